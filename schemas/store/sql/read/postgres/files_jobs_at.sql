-- Jobs that ran at the time $4, by the rate of their clients of a mount at that time.
WITH clients AS MATERIALIZED (
    -- An expression of the part would have no statistics: a plan for a few clients took a minute for 20,000.
    SELECT s.series_id FROM series s WHERE s.metric = $3::text AND (s.part = $1::text OR $1::text = '' AND s.part IS NULL)
), latest AS MATERIALIZED (
    SELECT DISTINCT ON (r.series_id) r.series_id, r.value::double precision AS value, tailback_state(r.state) AS state
    FROM signal_rows r
    WHERE r.time > to_timestamp($4::double precision) - interval '20 seconds' AND r.time <= to_timestamp($4::double precision)
      AND r.series_id IN (SELECT c.series_id FROM clients c)
    ORDER BY r.series_id, r.time DESC
), members AS MATERIALIZED (
    -- Jobs first, then the series of each: the number of jobs at one time has no statistics, and the plan would read the jobs of all clients.
    SELECT j.job_id, s.series_id
    FROM jobs j CROSS JOIN LATERAL (SELECT s.series_id FROM job_series s WHERE s.job_id = j.job_id OFFSET 0) s
    WHERE j.start_time <= to_timestamp($4::double precision) AND coalesce(j.end_time, 'infinity') >= to_timestamp($4::double precision)
)
SELECT j.job_id, j.user_name, j.name, count(*), count(*) FILTER (WHERE n.state = 'contended'),
       sum(n.value) FILTER (WHERE n.state <> 'unknown'), r.slowdown_s, r.slowdown_lo_s, r.slowdown_hi_s,
       r.completeness, r.judged
FROM members m JOIN jobs j USING (job_id) JOIN clients c USING (series_id) LEFT JOIN latest n USING (series_id)
LEFT JOIN job_results r USING (job_id)
GROUP BY j.job_id, r.job_id ORDER BY 6 DESC NULLS LAST, j.job_id COLLATE "C" LIMIT $2::bigint
