SELECT configuration, self_s, self_lo_s, self_hi_s, other_s, other_lo_s, other_hi_s, placement, placement_lo, placement_hi,
       beta, beta_lo, beta_hi, beta_version, beta_runs, caveat
FROM job_factors WHERE job_id = ?1
