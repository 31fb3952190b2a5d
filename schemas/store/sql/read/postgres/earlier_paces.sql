-- Counts a second, without contention, of the runs before job $1 of the same configuration, by name; latest first.
WITH this AS (SELECT job_id, configuration, start_time FROM job_slowdown WHERE job_id = $1::text)
SELECT p.name, p.per_s
FROM this t JOIN job_slowdown s ON s.configuration = t.configuration AND s.start_time < t.start_time
JOIN job_progress p ON p.job_id = s.job_id
WHERE p.per_s > 0 AND p.name IN (SELECT o.name FROM job_progress o JOIN this USING (job_id))
ORDER BY s.start_time DESC, s.job_id COLLATE "C", p.name LIMIT $2::bigint
