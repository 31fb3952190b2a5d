-- Node-hours lost, by cause. The loss of a job is spread evenly over its run; loss without a known cause is `unknown`. Each run
-- makes its own steps: a join with those of a month would compare every job with every hour. A bar is a whole number of hours, at most
-- 180 bars.
WITH span AS (
    SELECT x.step, date_bin(x.step, $__timeFrom()::timestamptz, 'epoch') AS from_time
    FROM (SELECT make_interval(secs => greatest(3600, $__interval_ms / 1000.0,
                                                3600 * ceil(extract(epoch FROM $__timeTo()::timestamptz - $__timeFrom()::timestamptz) / 648000))) AS step) x
), runs AS MATERIALIZED (
    SELECT j.* FROM job_costs j
    WHERE j.start_time < $__timeTo() AND j.until_time > $__timeFrom() AND j.lost_s > 0 AND j.run_s > 0
), known AS MATERIALIZED (
    SELECT c.job_id, c.cause, sum(c.share) AS share FROM job_causes c
    WHERE c.cause <> 'unknown' AND c.job_id = ANY (ARRAY(SELECT r.job_id FROM runs r)) GROUP BY 1, 2
), steps AS (
    SELECT r.*, s.step, generate_series(greatest(s.from_time, date_bin(s.step, r.start_time, 'epoch')),
                                        least(r.until_time, $__timeTo()::timestamptz), s.step) AS from_time
    FROM runs r CROSS JOIN span s
), parts AS (
    SELECT s.*, extract(epoch FROM least(s.from_time + s.step, s.until_time)
                                   - greatest(s.from_time, s.start_time))::double precision / s.run_s AS part
    FROM steps s WHERE s.from_time < s.until_time
), lost AS MATERIALIZED (
    SELECT p.job_id, p.from_time, p.part * p.lost_node_hours AS node_hours FROM parts p
), causes AS (
    SELECT l.from_time, k.cause, sum(l.node_hours * k.share) AS node_hours FROM lost l JOIN known k USING (job_id) GROUP BY 1, 2
)
-- What no cause has is unknown, as in `job_cost_shares`.
SELECT c.from_time AS time, c.cause AS metric, c.node_hours AS value FROM causes c
UNION ALL
SELECT t.from_time, 'unknown', greatest(0, t.node_hours - coalesce(k.node_hours, 0))
FROM (SELECT from_time, sum(node_hours) AS node_hours FROM lost GROUP BY 1) t
LEFT JOIN (SELECT from_time, sum(node_hours) AS node_hours FROM causes GROUP BY 1) k USING (from_time)
ORDER BY 1, 2
