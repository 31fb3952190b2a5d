DELETE FROM job_nodes WHERE job_id = ANY ($1)
