-- Node-hours lost, by cause. The loss of a job is spread evenly over its run; loss without a known cause is `unknown`. Each run
-- makes its own steps: a join with those of a month would compare every job with every hour. A bar is a whole number of hours, at most
-- 180 bars.
WITH span AS (
    SELECT x.step, date_bin(x.step, $__timeFrom()::timestamptz, 'epoch') AS from_time
    FROM (SELECT make_interval(secs => greatest(3600, $__interval_ms / 1000.0,
                                                3600 * ceil(extract(epoch FROM $__timeTo()::timestamptz - $__timeFrom()::timestamptz) / 648000))) AS step) x
), runs AS (
    SELECT j.job_id, j.start_time, j.until_time, j.run_s, j.lost_node_hours FROM job_costs j
    WHERE j.start_time < $__timeTo() AND (j.end_time IS NULL OR j.end_time > $__timeFrom()) AND j.until_time > $__timeFrom()
      AND j.lost_s > 0 AND j.run_s > 0
), steps AS (
    SELECT r.*, s.step, generate_series(greatest(s.from_time, date_bin(s.step, r.start_time, 'epoch')),
                                        least(r.until_time, $__timeTo()::timestamptz), s.step) AS from_time
    FROM runs r CROSS JOIN span s
), parts AS MATERIALIZED (
    SELECT s.job_id, s.from_time, s.lost_node_hours / s.run_s * date_part('epoch', least(s.from_time + s.step, s.until_time)
                                                                                   - greatest(s.from_time, s.start_time)) AS node_hours
    FROM steps s WHERE s.from_time < s.until_time
), known AS (
    -- Causes join parts, not runs: sums for each run and cause would sort all causes of the month.
    SELECT p.from_time, c.cause, sum(p.node_hours * c.share) AS node_hours FROM parts p JOIN job_causes c USING (job_id)
    WHERE c.cause <> 'unknown' GROUP BY 1, 2
), totals AS (
    SELECT p.from_time, sum(p.node_hours) AS node_hours FROM parts p GROUP BY 1
)
SELECT k.from_time AS time, k.cause AS metric, k.node_hours AS value FROM known k
UNION ALL
-- What no cause has is unknown, as in `job_cost_shares`.
SELECT t.from_time, 'unknown', greatest(0, t.node_hours - coalesce((SELECT sum(k.node_hours) FROM known k WHERE k.from_time = t.from_time), 0))
FROM totals t
ORDER BY 1, 2
