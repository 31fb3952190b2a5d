-- Node-hours lost, by cause. The loss of a job is spread evenly over its run; loss without a known cause is `unknown`. Each run
-- makes its own steps: a join with those of a month would compare every job with every hour.
WITH span AS (
    SELECT x.step, date_bin(x.step, $__timeFrom()::timestamptz, 'epoch') AS from_time
    FROM (SELECT make_interval(secs => greatest(3600, $__interval_ms / 1000.0)) AS step) x
), runs AS MATERIALIZED (
    SELECT j.* FROM job_costs j
    WHERE j.start_time < $__timeTo() AND j.until_time > $__timeFrom() AND j.lost_s > 0 AND j.run_s > 0
), steps AS (
    SELECT r.*, s.step, generate_series(greatest(s.from_time, date_bin(s.step, r.start_time, 'epoch')),
                                        least(r.until_time, $__timeTo()::timestamptz), s.step) AS from_time
    FROM runs r CROSS JOIN span s
), parts AS (
    SELECT s.*, extract(epoch FROM least(s.from_time + s.step, s.until_time)
                                   - greatest(s.from_time, s.start_time))::double precision / s.run_s AS part
    FROM steps s WHERE s.from_time < s.until_time
)
SELECT p.from_time AS time, s.cause AS metric, sum(p.part * p.lost_node_hours * s.share) AS value
FROM parts p JOIN job_cost_shares s USING (job_id) GROUP BY 1, 2 ORDER BY 1, 2
