-- As episode_list.sql, of the series ?4, or of those of the job ?5 while it ran: found by their series.
WITH picked AS (
    SELECT e.id, e.open, e.start_time
    FROM episodes e
    WHERE e.series_id IN (SELECT series_id FROM series WHERE name = ?4
                          UNION ALL SELECT series_id FROM job_series WHERE ?4 IS NULL AND job_id = ?5)
      AND (?1 IS NULL OR +e.open = ?1)
      AND (?6 IS NULL OR +e.end_time >= ?6) AND (?7 IS NULL OR +e.start_time <= ?7)
      AND (?5 IS NULL OR EXISTS (SELECT 1 FROM job_series js JOIN jobs j USING (job_id)
                                 WHERE js.job_id = ?5 AND js.series_id = e.series_id AND j.start_time <= e.end_time
                                   AND (j.end_time IS NULL OR j.end_time >= e.start_time)))
    ORDER BY +e.open DESC, e.start_time DESC, e.id DESC
    LIMIT ?2 OFFSET ?3
)
SELECT s.id, s.series, s.metric, s.component, s.part, s.start_time, s.end_time, s.open, s.duration_s, s.peak,
       s.baseline, s.slowdown_s, s.slowdown_lo_s, s.slowdown_hi_s, s.completeness, s.causes
FROM picked p JOIN series_episodes s ON s.id = p.id
ORDER BY p.open DESC, p.start_time DESC, p.id DESC
