-- How many series the job uses, how many reported last before it began, and how many before it ended.
SELECT count(*),
       count(*) FILTER (WHERE l.time IS NULL OR l.time <= ?2),
       count(*) FILTER (WHERE l.time > ?2 AND l.time < ?3 - 5.0)
FROM job_series js LEFT JOIN series_latest l USING (series_id)
WHERE js.job_id = ?1
