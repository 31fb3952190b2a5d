DELETE FROM job_nodes WHERE job_id = ?1
