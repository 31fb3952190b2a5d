SELECT DISTINCT job_id FROM job_nodes WHERE node = $1
