DELETE FROM job_progress WHERE job_id = ANY ($1)
