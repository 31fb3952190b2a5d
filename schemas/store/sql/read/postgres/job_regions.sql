-- Regions that the job waits in, the largest lower end of the loss first, and those of whose load it makes a part. The confidence is that of the
-- named source.
SELECT r.region_id, r.name, true AS waits, extract(epoch FROM greatest(r.start_time, j.start_time))::double precision,
       extract(epoch FROM least(r.end_time, j.until_time))::double precision, r.open, r.links_most::bigint, r.peak, v.lost_s, v.share,
       r.cause, r.kind, coalesce(c.series_or_job, ''), coalesce(c.confidence, r.confidence), r.completeness,
       v.lost_lo_s, v.lost_hi_s
FROM region_victims v JOIN regions r USING (region_id) JOIN job_runs j USING (job_id)
LEFT JOIN region_causes_shown c ON c.region_id = r.region_id AND c.position = 0
WHERE v.job_id = $1
UNION ALL
SELECT r.region_id, r.name, false, extract(epoch FROM greatest(r.start_time, j.start_time))::double precision,
       extract(epoch FROM least(r.end_time, j.until_time))::double precision, r.open, r.links_most::bigint, r.peak, NULL, c.share,
       c.cause, r.kind, c.series_or_job, c.confidence, r.completeness,
       NULL, NULL
FROM region_causes_shown c JOIN job_runs j ON j.job_id = c.series_or_job JOIN regions r USING (region_id)
WHERE c.series_or_job = $1 AND r.start_time < j.until_time AND r.end_time > j.start_time
ORDER BY 3 DESC, 16 DESC NULLS LAST, 9 DESC NULLS LAST, 10 DESC, 1
