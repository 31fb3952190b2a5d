SELECT coalesce(sum(lost_s), 0), coalesce(sum(lost_lo_s), 0), coalesce(sum(lost_hi_s), 0) FROM job_costs
