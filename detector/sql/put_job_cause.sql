INSERT INTO job_causes (job_id, position, cause, kind, series_or_job, share) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
