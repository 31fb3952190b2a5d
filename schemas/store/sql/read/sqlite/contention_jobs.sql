-- Running jobs, the latest first, at most ?1: what they lost, how many series they have, how many of these have data now, how many
-- are judged now, and how many are idle.
WITH running AS MATERIALIZED (
    SELECT j.job_id, j.user_name, j.start_time FROM jobs j
    WHERE j.end_time IS NULL OR j.end_time > (SELECT now FROM clock)
    ORDER BY j.start_time DESC, j.job_id LIMIT ?1
), counted AS (
    SELECT u.job_id, count(js.series_id) AS series,
           coalesce(sum(l.time >= (SELECT now FROM clock) - 5.0 AND l.state <> 'unknown'), 0) AS reporting,
           coalesce(sum(l.time >= (SELECT now FROM clock) - 5.0 AND l.state IN ('clear', 'contended', 'idle')), 0) AS judged,
           coalesce(sum(l.time >= (SELECT now FROM clock) - 5.0 AND l.state = 'idle'), 0) AS idle
    FROM running u LEFT JOIN job_series js USING (job_id) LEFT JOIN series_latest l USING (series_id) GROUP BY 1
)
SELECT u.job_id, u.user_name, u.start_time, r.slowdown_s, r.slowdown_lo_s, r.slowdown_hi_s, r.completeness, r.judged,
       c.series, c.reporting, c.judged, c.idle
FROM running u JOIN counted c USING (job_id) LEFT JOIN job_results r USING (job_id)
ORDER BY u.start_time DESC, u.job_id
