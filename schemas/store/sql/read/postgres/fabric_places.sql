-- Series of the fabric by group of their component and metric, then the same of each router, switch or host of the group $1, or of
-- all: at most $2, those with most contended series. The worst link is null where none is contended.
-- A component as a whole counts only where its links have no series of their own.
-- Series are counted by component first: names are compared once for each.
WITH latest AS (
    SELECT DISTINCT ON (r.series_id) r.series_id, r.state, r.mean / nullif(r.bound, 0) AS excess FROM signal_rows r
    WHERE r.time > latest_time() - interval '20 seconds'
    ORDER BY r.series_id, r.time DESC
), counted AS MATERIALIZED (
    SELECT s.metric, s.component, s.part IS NOT NULL AS are_parts, count(*) AS series,
           count(*) FILTER (WHERE l.state <> 4) AS reporting, count(*) FILTER (WHERE l.state = 2) AS contended,
           max(ARRAY[coalesce(l.excess, '-infinity'), -l.series_id]::double precision[]) FILTER (WHERE l.state = 2) AS worst
    FROM series s LEFT JOIN latest l USING (series_id)
    WHERE s.metric IN (SELECT m.metric FROM metrics m WHERE m.measures = 'link') GROUP BY 1, 2, 3
), components AS MATERIALIZED (
    SELECT c.component, c.metric, coalesce(p.group_name, '') AS group_name, c.series, c.reporting, c.contended, c.worst
    FROM (SELECT k.*, bool_or(k.are_parts) OVER (PARTITION BY k.metric, k.component) AS has_parts FROM counted k) c
    LEFT JOIN component_places p USING (metric, component) WHERE c.are_parts = c.has_parts
), places AS (
    SELECT 'group' AS kind, nullif(c.group_name, '') AS place, c.metric, sum(c.series)::bigint AS series, sum(c.reporting)::bigint AS reporting,
           sum(c.contended)::bigint AS contended, max(c.worst) AS worst
    FROM components c GROUP BY c.group_name, c.metric
    UNION ALL
    (SELECT 'switch', c.component, c.metric, c.series, c.reporting, c.contended, c.worst FROM components c
     WHERE $1::text IS NULL OR c.group_name = $1
     ORDER BY c.contended DESC, c.component COLLATE "C", c.metric COLLATE "C" LIMIT $2::bigint)
)
SELECT p.kind, p.place, p.metric, p.series, p.reporting, p.contended, s.name
FROM places p LEFT JOIN series s ON s.series_id = (-p.worst[2])::integer
ORDER BY p.kind, p.contended DESC, p.place COLLATE "C" NULLS FIRST, p.metric COLLATE "C"
