-- Regions whose load this job contributes to, and their affected jobs, by the lower end of the loss.
SELECT r.region_id AS region, r.name, v.job_id AS job, v.lost_s, v.lost_lo_s, v.lost_hi_s, c.share AS load_share, c.confidence, r.start_time AS from_time
FROM region_causes c JOIN regions r USING (region_id) JOIN region_victims v USING (region_id)
WHERE c.series_or_job = job_named(${job:sqlstring}) AND v.job_id <> c.series_or_job
ORDER BY v.lost_lo_s DESC, v.lost_s DESC, r.region_id LIMIT 100
