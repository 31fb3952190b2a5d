-- Affected jobs of a region, largest lower end of the loss first; name and user are null if the job is unknown.
SELECT v.job_id, j.name, j.user_name, v.lost_s, v.share, v.lost_lo_s, v.lost_hi_s FROM region_victims v LEFT JOIN jobs j USING (job_id)
WHERE v.region_id = $1::bigint ORDER BY v.position
