-- Running jobs first, then the latest.
SELECT j.job_id, j.user_name, j.name, j.start_time, j.end_time, j.contended_s, j.slowdown_s, j.slowdown_lo_s,
       j.slowdown_hi_s, j.completeness, (SELECT count(*) FROM job_nodes n WHERE n.job_id = j.job_id), a.app
FROM job_slowdown j JOIN jobs a USING (job_id)
WHERE ?1 IS NULL OR j.job_id = ?1
ORDER BY j.end_time IS NOT NULL, j.start_time DESC, j.job_id
LIMIT ?2 OFFSET ?3
