-- Loss and completeness of the run.
SELECT s.run_s, s.slowdown_s AS lost_s, s.slowdown_lo_s AS lost_lo_s, s.slowdown_hi_s AS lost_hi_s,
       s.slowdown_percent AS lost_percent, c.lost_node_hours, c.lost_lo_node_hours, c.lost_hi_node_hours, s.nodes,
       f.self_s, f.self_lo_s, f.self_hi_s, f.other_s, f.other_lo_s, f.other_hi_s, s.placement, s.completeness, s.judged
FROM job_slowdown s LEFT JOIN job_costs c USING (job_id) LEFT JOIN job_factors f USING (job_id)
WHERE s.job_id = job_named(${job:sqlstring})
