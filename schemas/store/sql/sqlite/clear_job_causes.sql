DELETE FROM job_causes WHERE job_id = ?1
