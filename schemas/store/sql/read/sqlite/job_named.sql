-- By its number, or by what users call it; of an array's several runs the latest.
SELECT j.job_id, j.user_name, j.name, j.start_time, j.end_time, j.app, j.label, j.end_presumed, r.until_time
FROM jobs j JOIN job_runs r USING (job_id) WHERE j.job_id = ?1 OR (j.label = ?1 AND j.label <> '')
ORDER BY j.job_id = ?1 DESC, j.start_time DESC LIMIT 1
