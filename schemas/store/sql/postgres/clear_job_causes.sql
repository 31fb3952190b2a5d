DELETE FROM job_causes WHERE job_id = ANY ($1)
