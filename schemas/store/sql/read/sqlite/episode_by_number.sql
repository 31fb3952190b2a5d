-- ?1 is the partition; this store has only one.
SELECT s.name, s.metric, s.component, e.series_id, e.start_time, e.end_time, e.open, e.peak, e.baseline, e.slowdown_s,
       e.slowdown_lo_s, e.slowdown_hi_s, e.completeness, e.causes
FROM episodes e JOIN series s USING (series_id) WHERE e.id = ?2
