INSERT INTO job_nodes (job_id, node)
SELECT DISTINCT n.job_id, n.node FROM unnest($1::text[], $2::text[]) AS n (job_id, node) ORDER BY 1, 2
ON CONFLICT DO NOTHING
