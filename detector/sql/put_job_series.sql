INSERT INTO job_series (job_id, series_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING
