-- Series of the fabric by group of their component and metric; the worst link is null where none is contended.
-- A component as a whole counts only where its links have no series of their own.
-- Only contended ones are sorted.
WITH links AS MATERIALIZED (
    SELECT nullif(p.group_name, '') AS place, n.metric, n.series_id, n.name, n.state, n.mean / nullif(n.bound, 0) AS excess
    FROM series_now n LEFT JOIN component_places p USING (metric, component)
    WHERE n.metric IN (SELECT m.metric FROM metrics m WHERE m.measures = 'link') AND (n.part IS NOT NULL OR NOT EXISTS (
        SELECT FROM series t WHERE t.metric = n.metric AND t.component = n.component AND t.part IS NOT NULL))
), worst AS MATERIALIZED (
    SELECT DISTINCT ON (place, metric) place, metric, name FROM links WHERE state = 'contended'
    ORDER BY place, metric, excess DESC NULLS LAST, series_id
), counted AS (
    SELECT place, metric, count(*) AS series, count(*) FILTER (WHERE state <> 'unknown') AS reporting,
           count(*) FILTER (WHERE state = 'contended') AS contended
    FROM links GROUP BY 1, 2
)
SELECT n.place, n.metric, n.series, n.reporting, n.contended,
       (SELECT w.name FROM worst w WHERE w.metric = n.metric AND w.place IS NOT DISTINCT FROM n.place)
FROM counted n ORDER BY n.contended DESC, n.place COLLATE "C" NULLS FIRST, n.metric COLLATE "C"
