INSERT INTO region_causes (region_id, position, cause, series_or_job, share, confidence, evidence)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
