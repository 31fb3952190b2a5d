-- Jobs that wait in a region, the largest loss first; name and user are null where the job is not known (any more).
SELECT v.job_id, j.name, j.user_name, v.lost_s, v.share FROM region_victims v LEFT JOIN jobs j USING (job_id)
WHERE v.region_id = ?1 ORDER BY v.position
