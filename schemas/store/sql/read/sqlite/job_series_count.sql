-- How many series the job uses, how many reported last before it began, and how many before it ended.
SELECT count(*),
       count(*) FILTER (WHERE l.time IS NULL OR l.time <= r.start_time),
       count(*) FILTER (WHERE l.time > r.start_time AND l.time < r.until_time - 5.0)
FROM job_series js JOIN job_runs r USING (job_id) LEFT JOIN series_latest l USING (series_id)
WHERE js.job_id = ?1
