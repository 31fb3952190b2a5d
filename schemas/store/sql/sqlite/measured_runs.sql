SELECT l.configuration, l.run_s, l.end_time, m.lost_s, m.lost_lo_s, m.lost_hi_s, m.cost, m.cost_lo, m.cost_hi
FROM learnable_runs l JOIN job_measured m USING (job_id) WHERE m.cost IS NOT NULL ORDER BY l.configuration, l.job_id
