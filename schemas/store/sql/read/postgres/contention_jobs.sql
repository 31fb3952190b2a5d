-- Running jobs, the latest first, at most $1: what they lost, how many series they have, how many of these have data now, and how many
-- are judged now.
WITH running AS MATERIALIZED (
    SELECT j.job_id, j.user_name, j.start_time FROM jobs j
    WHERE j.end_time IS NULL OR j.end_time > (SELECT now FROM clock)
    ORDER BY j.start_time DESC, j.job_id COLLATE "C" LIMIT $1::bigint
), latest AS MATERIALIZED (
    SELECT DISTINCT ON (r.series_id) r.series_id, tailback_state(r.state) AS state FROM signal_rows r
    WHERE r.time > latest_time() - interval '20 seconds'
    ORDER BY r.series_id, r.time DESC
), counted AS (
    SELECT u.job_id, count(js.series_id) AS series, count(*) FILTER (WHERE l.state <> 'unknown') AS reporting,
           count(*) FILTER (WHERE l.state IN ('clear', 'contended', 'idle')) AS judged
    FROM running u LEFT JOIN job_series js USING (job_id) LEFT JOIN latest l USING (series_id) GROUP BY 1
)
SELECT u.job_id, u.user_name, extract(epoch FROM u.start_time)::double precision, r.slowdown_s, r.slowdown_lo_s, r.slowdown_hi_s,
       r.completeness, r.judged, c.series, c.reporting, c.judged
FROM running u JOIN counted c USING (job_id) LEFT JOIN job_results r USING (job_id)
ORDER BY u.start_time DESC, u.job_id COLLATE "C"
