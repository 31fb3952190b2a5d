-- Jobs of a user ($1) that ran in the $2 seconds before the clock, running or ended ($3): the latest start first, or the largest lower
-- end of the loss ($5). With the largest cause.
SELECT j.job_id, j.label, j.user_name, j.name, extract(epoch FROM j.start_time)::double precision,
       extract(epoch FROM j.end_time)::double precision,
       extract(epoch FROM coalesce(j.end_time, (SELECT now FROM clock)))::double precision,
       (SELECT count(*) FROM job_nodes n WHERE n.job_id = j.job_id), r.slowdown_s, r.slowdown_lo_s, r.slowdown_hi_s,
       r.completeness, r.judged, c.cause, c.series_or_job, c.share
FROM jobs j LEFT JOIN job_results r USING (job_id) LEFT JOIN job_causes_shown c ON c.job_id = j.job_id AND c.position = 0
WHERE ($1::text IS NULL OR j.user_name = $1)
  AND ($2::double precision IS NULL OR j.end_time IS NULL OR j.end_time >= (SELECT now FROM clock) - make_interval(secs => $2))
  AND ($3::boolean IS NULL OR (j.end_time IS NULL) = $3)
ORDER BY CASE WHEN $5::boolean THEN -coalesce(r.slowdown_lo_s, 0) ELSE 0 END, CASE WHEN $5::boolean THEN -coalesce(r.slowdown_s, 0) ELSE 0 END,
         j.start_time DESC, j.job_id COLLATE "C"
LIMIT $4::bigint
