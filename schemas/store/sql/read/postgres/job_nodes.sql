SELECT node FROM job_nodes WHERE job_id = $1::text ORDER BY node COLLATE "C" LIMIT 1000
