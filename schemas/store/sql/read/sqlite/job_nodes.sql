SELECT node FROM job_nodes WHERE job_id = ?1 ORDER BY node LIMIT 1000
