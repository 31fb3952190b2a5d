-- Node-hours lost, by cause. The loss of a job is spread evenly over its run; what no cause explains is `unknown`.
WITH spans AS (
    SELECT t AS from_time, t + make_interval(secs => greatest(3600, $__interval_ms / 1000.0)) AS until_time
    FROM generate_series(date_bin(make_interval(secs => greatest(3600, $__interval_ms / 1000.0)), $__timeFrom()::timestamptz, 'epoch'),
                         $__timeTo()::timestamptz, make_interval(secs => greatest(3600, $__interval_ms / 1000.0))) AS t
), runs AS (
    SELECT j.job_id, j.start_time, j.start_time + make_interval(secs => j.run_s) AS until_time,
           j.slowdown_s * j.nodes / 3600 / nullif(j.run_s, 0) AS node_hours_per_s
    FROM job_slowdown j
    WHERE j.start_time < $__timeTo() AND coalesce(j.end_time, $__timeTo()) > $__timeFrom() AND j.slowdown_s > 0
), paid AS (
    SELECT r.job_id, s.from_time, r.node_hours_per_s * extract(epoch FROM least(s.until_time, r.until_time)
                                                               - greatest(s.from_time, r.start_time)) AS node_hours
    FROM runs r JOIN spans s ON s.from_time < r.until_time AND s.until_time > r.start_time
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
