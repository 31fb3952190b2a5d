-- Jobs that used a series at some time between two times, latest first.
SELECT j.job_id, j.user_name, j.name, j.start_time, j.end_time
FROM series s JOIN job_series js USING (series_id) JOIN jobs j USING (job_id)
WHERE s.name = ?1 AND j.start_time <= ?3 AND (j.end_time IS NULL OR j.end_time >= ?2)
ORDER BY j.start_time DESC, j.job_id
LIMIT 50
