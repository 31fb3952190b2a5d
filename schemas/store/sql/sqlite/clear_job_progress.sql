DELETE FROM job_progress WHERE job_id = ?1
