INSERT INTO region_victims (region_id, job_id, position, lost_s, lost_lo_s, lost_hi_s, share)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (region_id, job_id) DO NOTHING
