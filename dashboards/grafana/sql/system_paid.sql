-- Node-hours lost, by cause. The loss of a job is spread evenly over its run; loss without a known cause is `unknown`. Each run
-- makes its own steps: a join with those of a month would compare every job with every hour. A bar is a whole number of hours, at most
-- 180 bars.
WITH span AS (
    SELECT x.step, date_bin(x.step, $__timeFrom()::timestamptz, 'epoch') AS from_time
    FROM (SELECT make_interval(secs => greatest(3600, $__interval_ms / 1000.0,
                                                3600 * ceil(extract(epoch FROM $__timeTo()::timestamptz - $__timeFrom()::timestamptz) / 648000))) AS step) x
), runs AS MATERIALIZED (
    SELECT j.job_id, j.start_time, j.until_time, j.run_s, j.lost_node_hours FROM job_costs j
    WHERE j.start_time < $__timeTo() AND (j.end_time IS NULL OR j.end_time > $__timeFrom()) AND j.until_time > $__timeFrom()
      AND j.lost_s > 0 AND j.run_s > 0
), known AS (
    SELECT c.job_id, c.cause, sum(c.share) AS share FROM job_causes c JOIN runs r USING (job_id) WHERE c.cause <> 'unknown' GROUP BY 1, 2
), lost AS (
    -- Of all causes together, and of each one that is known.
    SELECT r.start_time, r.until_time, r.run_s, 'all' AS cause, r.lost_node_hours AS node_hours FROM runs r
    UNION ALL
    SELECT r.start_time, r.until_time, r.run_s, k.cause, r.lost_node_hours * k.share FROM known k JOIN runs r USING (job_id)
), steps AS (
    SELECT l.*, s.step, generate_series(greatest(s.from_time, date_bin(s.step, l.start_time, 'epoch')),
                                        least(l.until_time, $__timeTo()::timestamptz), s.step) AS from_time
    FROM lost l CROSS JOIN span s
), causes AS (
    SELECT s.from_time, s.cause, sum(s.node_hours / s.run_s * date_part('epoch', least(s.from_time + s.step, s.until_time)
                                                                               - greatest(s.from_time, s.start_time))) AS node_hours
    FROM steps s WHERE s.from_time < s.until_time GROUP BY 1, 2
)
-- What no cause has is unknown, as in `job_cost_shares`.
SELECT c.from_time AS time, c.cause AS metric, c.node_hours AS value FROM causes c WHERE c.cause <> 'all'
UNION ALL
SELECT c.from_time, 'unknown', greatest(0, 2 * sum(c.node_hours) FILTER (WHERE c.cause = 'all') - sum(c.node_hours)) FROM causes c GROUP BY 1
ORDER BY 1, 2
