SELECT name, covered_s, contended_s, per_s, counters_s, state, lost_s, lost_lo_s, lost_hi_s, cost, cost_lo, cost_hi FROM job_progress WHERE job_id = $1::text ORDER BY name
