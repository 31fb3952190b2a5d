SELECT id, series, metric, component, part, start_time, end_time, open, duration_s, peak, baseline, slowdown_s,
       slowdown_lo_s, slowdown_hi_s, completeness, causes
FROM series_episodes WHERE id = ?1
