SELECT coalesce(sum(slowdown_s), 0) FROM job_results
