-- Loss and completeness of the run.
SELECT s.run_s, s.slowdown_s AS lost_s, s.slowdown_lo_s AS lost_lo_s, s.slowdown_hi_s AS lost_hi_s,
       s.slowdown_percent AS lost_percent, s.slowdown_s * s.nodes / 3600 AS lost_node_hours, s.nodes, s.self_s, s.other_s,
       s.placement, s.completeness, s.judged
FROM job_slowdown s WHERE s.job_id = job_named(${job:sqlstring})
