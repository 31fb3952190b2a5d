-- Nodes, results, causes and series of the job go with it. A job without an end stays: it may still run.
DELETE FROM jobs WHERE job_id IN (SELECT job_id FROM jobs WHERE end_time < ?1 LIMIT ?2)
