-- Running jobs by the current rate of their clients of a mount.
SELECT j.job_id, j.user_name, j.name, count(*), count(*) FILTER (WHERE n.state = 'contended'),
       sum(n.value) FILTER (WHERE n.state <> 'unknown'), r.slowdown_s, r.slowdown_lo_s, r.slowdown_hi_s,
       r.completeness, r.judged
FROM jobs j JOIN job_series js USING (job_id) JOIN series_now n USING (series_id) LEFT JOIN job_results r USING (job_id)
WHERE j.end_time IS NULL AND n.metric = ?3 AND coalesce(n.part, '') = ?1
GROUP BY j.job_id ORDER BY 6 DESC, 1 LIMIT ?2
