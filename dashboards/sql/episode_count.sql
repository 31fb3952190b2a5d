SELECT count(*)
FROM episodes e
WHERE (?1 IS NULL OR e.open = ?1)
  AND (?2 IS NULL OR e.series_id = (SELECT series_id FROM series WHERE name = ?2))
  AND (?3 IS NULL OR e.series_id IN (SELECT series_id FROM job_series WHERE job_id = ?3))
  AND (?3 IS NULL OR EXISTS (SELECT 1 FROM jobs j WHERE j.job_id = ?3 AND j.start_time <= e.end_time
                             AND (j.end_time IS NULL OR j.end_time >= e.start_time)))
