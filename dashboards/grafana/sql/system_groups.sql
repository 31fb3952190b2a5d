-- Every group now, by metric. Series are counted by component first: names are compared once for each. States have the numbers of
-- `tailback_state`; a series without a signal in 20 s is unknown.
WITH latest AS (
    SELECT DISTINCT ON (r.series_id) r.series_id, r.state, r.mean / nullif(r.bound, 0) AS excess FROM signal_rows r
    WHERE r.time > latest_time() - interval '20 seconds'
    ORDER BY r.series_id, r.time DESC
), components AS MATERIALIZED (
    SELECT s.metric, s.component, count(*) AS series, count(*) FILTER (WHERE l.state <> 4) AS reporting,
           count(*) FILTER (WHERE l.state = 0) AS warmup, count(*) FILTER (WHERE l.state = 2) AS contended,
           max(ARRAY[coalesce(l.excess, '-infinity'), -l.series_id]::double precision[]) FILTER (WHERE l.state = 2) AS worst
    FROM series s LEFT JOIN latest l USING (series_id)
    WHERE s.metric IN (SELECT m.metric FROM metrics m WHERE m.measures = 'link') GROUP BY 1, 2
), groups AS (
    SELECT coalesce(nullif(p.group_name, ''), 'not known') AS group_name, c.metric, sum(c.series)::bigint AS series,
           sum(c.reporting)::bigint AS reporting, sum(c.warmup)::bigint AS warmup, sum(c.contended)::bigint AS contended, max(c.worst) AS worst
    FROM components c JOIN component_places p USING (metric, component) GROUP BY p.group_name, c.metric
)
SELECT g.group_name, g.metric,
       CASE WHEN g.reporting = 0 THEN 'unknown' WHEN g.contended > 0 THEN 'contended' WHEN g.warmup > g.series / 2 THEN 'warmup'
            ELSE 'clear' END AS state,
       g.contended::double precision / nullif(g.reporting - g.warmup, 0) AS contended_share, g.contended AS contended_series, g.series,
       g.reporting::double precision / g.series AS completeness, s.name AS worst_series
FROM groups g LEFT JOIN series s ON s.series_id = (-g.worst[2])::integer
ORDER BY 4 DESC NULLS LAST, 1, 2
