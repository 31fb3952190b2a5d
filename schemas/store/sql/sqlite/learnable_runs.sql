SELECT configuration, groups, run_s, slowdown_s, end_time FROM learnable_runs ORDER BY configuration, job_id
