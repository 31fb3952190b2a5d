-- Runs of the same configuration, or of the same name by the same user without a known configuration.
WITH this AS (SELECT * FROM job_slowdown WHERE job_id = job_named(${job:sqlstring}))
SELECT s.job_id AS job, s.start_time AS from_time, s.run_s, s.slowdown_s AS lost_s, s.slowdown_lo_s AS lost_lo_s, s.slowdown_hi_s AS lost_hi_s,
       s.slowdown_percent AS lost_percent,
       s.run_s - s.slowdown_s AS run_without_loss_s, s.run_s - s.slowdown_hi_s AS run_without_loss_lo_s,
       s.run_s - s.slowdown_lo_s AS run_without_loss_hi_s, s.nodes, s.placement, s.completeness
FROM this t JOIN job_slowdown s ON s.configuration = t.configuration
                                OR t.configuration IS NULL AND s.user_name = t.user_name AND s.name = t.name
ORDER BY s.start_time DESC LIMIT 50
