-- Running jobs, the latest first, at most ?1: what they lost, how many series they have, how many of these have data now, how many
-- are judged now, and how many are idle.
WITH running AS MATERIALIZED (
    SELECT j.job_id, j.user_name, j.start_time FROM jobs j
    WHERE j.end_time IS NULL OR j.end_time > (SELECT now FROM clock)
    ORDER BY j.start_time DESC, j.job_id LIMIT ?1
), recent AS MATERIALIZED (
    SELECT now - 5.0 AS since FROM clock
), counted AS (
    SELECT js.job_id, count(*) AS series, count(l.state) AS reporting,
           count(iif(l.state IN ('clear', 'contended', 'idle'), 1, NULL)) AS judged, count(iif(l.state = 'idle', 1, NULL)) AS idle
    FROM job_series js LEFT JOIN series_latest l
         ON l.series_id = js.series_id AND l.time >= (SELECT since FROM recent) AND l.state <> 'unknown'
    -- Not a join: a list of jobs is sought in `job_series` in its order, and the counts need no sorting.
    WHERE js.job_id IN (SELECT job_id FROM running) GROUP BY 1
)
SELECT u.job_id, u.user_name, u.start_time, r.slowdown_s, r.slowdown_lo_s, r.slowdown_hi_s, r.completeness, r.judged,
       coalesce(c.series, 0), coalesce(c.reporting, 0), coalesce(c.judged, 0), coalesce(c.idle, 0)
FROM running u LEFT JOIN counted c USING (job_id) LEFT JOIN job_results r USING (job_id)
ORDER BY u.start_time DESC, u.job_id
