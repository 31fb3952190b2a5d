-- The job ?1 and the runs before it of the same configuration, or of the same name by the same user without a known
-- configuration; latest first.
WITH this AS (SELECT * FROM job_slowdown WHERE job_id = ?1)
SELECT s.job_id, s.start_time, s.end_time, s.run_s, s.slowdown_s, s.slowdown_lo_s, s.slowdown_hi_s, s.nodes, s.placement, s.completeness
FROM this t JOIN job_slowdown s ON s.configuration = t.configuration
                                OR t.configuration IS NULL AND s.user_name = t.user_name AND s.name = t.name
WHERE s.start_time < t.start_time OR s.job_id = t.job_id
ORDER BY s.start_time DESC, s.job_id LIMIT ?2
