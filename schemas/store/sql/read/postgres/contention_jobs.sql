-- Running jobs, the latest first, at most $1: what they lost, how many series they have, how many of these have data now, how many
-- are judged now, and how many are idle.
WITH running AS MATERIALIZED (
    SELECT j.job_id, j.user_name, j.start_time FROM jobs j
    WHERE j.end_time IS NULL OR j.end_time > (SELECT now FROM clock)
    ORDER BY j.start_time DESC, j.job_id COLLATE "C" LIMIT $1::bigint
), latest AS MATERIALIZED (
    SELECT DISTINCT ON (r.series_id) r.series_id, r.state FROM signal_rows r
    WHERE r.time > latest_time() - interval '20 seconds'
    ORDER BY r.series_id, r.time DESC
), used AS MATERIALIZED (
    SELECT u.job_id, js.series_id FROM running u CROSS JOIN LATERAL (
        -- A seek for each job, whatever number of series the planner expects.
        SELECT j.series_id FROM job_series j WHERE j.job_id = u.job_id OFFSET 0
    ) js
), counted AS (
    SELECT u.job_id, count(*) FILTER (WHERE l.state <> 4) AS reporting, count(*) FILTER (WHERE l.state IN (1, 2, 3)) AS judged,
           count(*) FILTER (WHERE l.state = 3) AS idle
    FROM used u JOIN latest l USING (series_id) GROUP BY 1
)
SELECT u.job_id, u.user_name, extract(epoch FROM u.start_time)::double precision, r.slowdown_s, r.slowdown_lo_s, r.slowdown_hi_s,
       r.completeness, r.judged, coalesce(n.series, 0), coalesce(c.reporting, 0), coalesce(c.judged, 0),
       coalesce(c.idle, 0)
FROM running u LEFT JOIN (SELECT job_id, count(*) AS series FROM used GROUP BY 1) n USING (job_id) LEFT JOIN counted c USING (job_id)
LEFT JOIN job_results r USING (job_id)
ORDER BY u.start_time DESC, u.job_id COLLATE "C"
