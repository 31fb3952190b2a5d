-- By its number, or by what users call it; of an array's several runs the latest.
SELECT job_id, user_name, name, start_time, end_time, app, label, end_presumed
FROM jobs WHERE job_id = ?1 OR (label = ?1 AND label <> '')
ORDER BY job_id = ?1 DESC, start_time DESC LIMIT 1
