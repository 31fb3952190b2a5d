SELECT contended_s, slowdown_s, slowdown_lo_s, slowdown_hi_s, completeness, judged FROM job_results WHERE job_id = $1
