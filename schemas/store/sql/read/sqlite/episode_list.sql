-- The ids are picked first, so that the long profile and causes of the others are never read.
WITH picked AS (
    SELECT e.id, e.open, e.start_time
    FROM episodes e
    WHERE (?1 IS NULL OR e.open = ?1)
      AND (?4 IS NULL OR e.end_time >= ?4) AND (?5 IS NULL OR e.start_time <= ?5)
    ORDER BY e.open DESC, e.start_time DESC, e.id DESC
    LIMIT ?2 OFFSET ?3
)
SELECT s.id, s.series, s.metric, s.component, s.part, s.start_time, s.end_time, s.open, s.duration_s, s.peak,
       s.baseline, s.slowdown_s, s.slowdown_lo_s, s.slowdown_hi_s, s.completeness, s.causes
FROM picked p JOIN series_episodes s ON s.id = p.id
ORDER BY p.open DESC, p.start_time DESC, p.id DESC
