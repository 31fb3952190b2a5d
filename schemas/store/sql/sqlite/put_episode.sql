INSERT INTO episodes (id, series_id, start_time, end_time, open, peak, baseline,
                      slowdown_s, slowdown_lo_s, slowdown_hi_s, completeness, profile, causes)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
ON CONFLICT (id) DO UPDATE SET
    series_id = excluded.series_id, start_time = excluded.start_time, end_time = excluded.end_time,
    open = excluded.open, peak = excluded.peak, baseline = excluded.baseline,
    slowdown_s = excluded.slowdown_s, slowdown_lo_s = excluded.slowdown_lo_s,
    slowdown_hi_s = excluded.slowdown_hi_s, completeness = excluded.completeness,
    profile = excluded.profile, causes = excluded.causes
