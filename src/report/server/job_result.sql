SELECT contended_s, slowdown_s, slowdown_lo_s, slowdown_hi_s, completeness FROM job_results WHERE job_id = $1
