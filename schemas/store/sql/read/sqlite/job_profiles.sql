-- The loss profile of every episode of a job's series, at most as many as the job's page lists.
SELECT e.start_time, e.slowdown_s, e.profile
FROM job_series js JOIN jobs j USING (job_id) JOIN episodes e USING (series_id)
WHERE js.job_id = ?1 AND j.start_time <= e.end_time AND (j.end_time IS NULL OR j.end_time >= e.start_time)
ORDER BY e.start_time DESC
LIMIT 500
