INSERT INTO job_nodes (job_id, node) VALUES (?1, ?2) ON CONFLICT DO NOTHING
