-- Running jobs by the current rate of their clients of a mount.
WITH clients AS MATERIALIZED (
    -- An expression of the part would have no statistics: a plan for a few clients took a minute for 20,000.
    SELECT s.series_id FROM series s WHERE s.metric = $3::text AND (s.part = $1::text OR $1::text = '' AND s.part IS NULL)
), latest AS MATERIALIZED (
    SELECT DISTINCT ON (r.series_id) r.series_id, r.value::double precision AS value, tailback_state(r.state) AS state
    FROM signal_rows r
    WHERE r.time > latest_time() - interval '20 seconds' AND r.series_id IN (SELECT c.series_id FROM clients c)
    ORDER BY r.series_id, r.time DESC
)
SELECT j.job_id, j.user_name, j.name, count(*), count(*) FILTER (WHERE n.state = 'contended'),
       sum(n.value) FILTER (WHERE n.state <> 'unknown'), r.slowdown_s, r.slowdown_lo_s, r.slowdown_hi_s,
       r.completeness, r.judged
FROM jobs j JOIN job_series js USING (job_id) JOIN clients c USING (series_id) LEFT JOIN latest n USING (series_id)
LEFT JOIN job_results r USING (job_id)
WHERE j.end_time IS NULL GROUP BY j.job_id, r.job_id ORDER BY 6 DESC NULLS LAST, j.job_id COLLATE "C" LIMIT $2::bigint
