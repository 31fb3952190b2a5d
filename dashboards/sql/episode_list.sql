-- The ids are picked first, so that the long profile and causes of the others are never read.
WITH picked AS (
    SELECT e.id, e.open, e.start_time
    FROM episodes e
    WHERE (?1 IS NULL OR e.open = ?1)
      AND (?2 IS NULL OR e.series_id = (SELECT series_id FROM series WHERE name = ?2))
      AND (?3 IS NULL OR e.series_id IN (SELECT series_id FROM job_series WHERE job_id = ?3))
      AND (?3 IS NULL OR EXISTS (SELECT 1 FROM jobs j WHERE j.job_id = ?3 AND j.start_time <= e.end_time
                                 AND (j.end_time IS NULL OR j.end_time >= e.start_time)))
    ORDER BY e.open DESC, e.start_time DESC, e.id DESC
    LIMIT ?4 OFFSET ?5
)
SELECT s.id, s.series, s.metric, s.component, s.part, s.start_time, s.end_time, s.open, s.duration_s, s.peak,
       s.baseline, s.slowdown_s, s.slowdown_lo_s, s.slowdown_hi_s, s.completeness, s.causes
FROM picked p JOIN series_episodes s ON s.id = p.id
ORDER BY p.open DESC, p.start_time DESC, p.id DESC
