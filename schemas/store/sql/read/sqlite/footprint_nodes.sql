-- Nodes of the job ?1, each with the switches that it is on; null where none is known.
SELECT n.node, p.switch FROM job_nodes n LEFT JOIN node_places p USING (node) WHERE n.job_id = ?1 ORDER BY n.node, p.switch LIMIT ?2
