-- Regions in which this job waits, and their traffic sources, by the lower end of the loss times the share of the load.
SELECT r.region_id AS region, r.name, c.series_or_job AS job, c.cause, v.lost_s, v.lost_lo_s, v.lost_hi_s, c.share AS load_share, c.confidence,
       r.start_time AS from_time
FROM region_victims v JOIN regions r USING (region_id) JOIN region_causes c USING (region_id)
WHERE v.job_id = job_named(${job:sqlstring}) AND c.series_or_job <> v.job_id
ORDER BY v.lost_lo_s * c.share DESC, v.lost_s * c.share DESC, r.region_id LIMIT 100
