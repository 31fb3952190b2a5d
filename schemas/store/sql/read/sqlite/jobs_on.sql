-- Jobs that ever had one of the nodes of the JSON list ?1.
SELECT DISTINCT job_id FROM job_nodes WHERE node IN (SELECT value FROM json_each(?1))
