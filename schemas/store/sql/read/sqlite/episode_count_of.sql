-- Number of episodes that match the filters of episode_list_of.sql.
SELECT count(*)
FROM episodes e
WHERE e.series_id IN (SELECT series_id FROM series WHERE name = ?2
                      UNION ALL SELECT series_id FROM job_series WHERE ?2 IS NULL AND job_id = ?3)
  AND (?1 IS NULL OR +e.open = ?1)
  AND (?4 IS NULL OR +e.end_time >= ?4) AND (?5 IS NULL OR +e.start_time <= ?5)
  AND (?3 IS NULL OR EXISTS (SELECT 1 FROM job_series js JOIN jobs j USING (job_id)
                             WHERE js.job_id = ?3 AND js.series_id = e.series_id AND j.start_time <= e.end_time
                               AND (j.end_time IS NULL OR j.end_time >= e.start_time)))
