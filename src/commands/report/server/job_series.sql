SELECT count(*) FROM job_series WHERE job_id = $1
