-- Node-hours lost, by cause. The loss of a job is spread evenly over its run; loss without a known cause is `unknown`. Each run
-- makes its own steps: a join with those of a month would compare every job with every hour.
WITH span AS (
    SELECT x.step, date_bin(x.step, $__timeFrom()::timestamptz, 'epoch') AS from_time
    FROM (SELECT make_interval(secs => greatest(3600, $__interval_ms / 1000.0)) AS step) x
), runs AS (
    SELECT j.job_id, j.start_time, j.start_time + make_interval(secs => j.run_s) AS until_time,
           j.slowdown_s * j.nodes / 3600 / nullif(j.run_s, 0) AS node_hours_per_s
    FROM job_slowdown j
    WHERE j.start_time < $__timeTo() AND coalesce(j.end_time, $__timeTo()) > $__timeFrom() AND j.slowdown_s > 0
), steps AS (
    SELECT r.*, s.step, generate_series(greatest(s.from_time, date_bin(s.step, r.start_time, 'epoch')),
                                        least(r.until_time, $__timeTo()::timestamptz), s.step) AS from_time
    FROM runs r CROSS JOIN span s
), paid AS (
    SELECT s.job_id, s.from_time, s.node_hours_per_s * extract(epoch FROM least(s.from_time + s.step, s.until_time)
                                                               - greatest(s.from_time, s.start_time)) AS node_hours
    FROM steps s WHERE s.from_time < s.until_time
), shares AS (
    SELECT c.job_id, c.cause, sum(c.share) AS share FROM job_causes c JOIN runs USING (job_id)
    WHERE c.cause <> 'unknown' GROUP BY 1, 2
), all_shares AS (
    SELECT * FROM shares
    UNION ALL
    SELECT r.job_id, 'unknown', greatest(0, 1 - coalesce(sum(s.share), 0)) FROM runs r LEFT JOIN shares s USING (job_id) GROUP BY 1
)
SELECT p.from_time AS time, s.cause AS metric, sum(p.node_hours * s.share) AS value
FROM paid p JOIN all_shares s USING (job_id) GROUP BY 1, 2 ORDER BY 1, 2
