CALL run_job({job_id})
