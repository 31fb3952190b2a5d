-- Jobs of a user (?1) that ran in the ?2 seconds before the clock, running or ended (?3): the latest start first, or the largest lower
-- end of the loss (?5). With the largest cause.
SELECT j.job_id, j.label, j.user_name, j.name, j.start_time, j.end_time, coalesce(j.end_time, (SELECT now FROM clock)),
       (SELECT count(*) FROM job_nodes n WHERE n.job_id = j.job_id), r.slowdown_s, r.slowdown_lo_s, r.slowdown_hi_s,
       r.completeness, r.judged, c.cause, c.series_or_job, c.share
FROM jobs j LEFT JOIN job_results r USING (job_id) LEFT JOIN job_causes c ON c.job_id = j.job_id AND c.position = 0
WHERE (?1 IS NULL OR j.user_name = ?1)
  AND (?2 IS NULL OR j.end_time IS NULL OR j.end_time >= (SELECT now FROM clock) - ?2)
  AND (?3 IS NULL OR (j.end_time IS NULL) = ?3)
ORDER BY CASE WHEN ?5 THEN -coalesce(r.slowdown_lo_s, 0.0) ELSE 0.0 END, CASE WHEN ?5 THEN -coalesce(r.slowdown_s, 0.0) ELSE 0.0 END,
         j.start_time DESC, j.job_id
LIMIT ?4
