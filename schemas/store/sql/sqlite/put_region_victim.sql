INSERT INTO region_victims (region_id, job_id, position, lost_s, share) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (region_id, job_id) DO NOTHING
