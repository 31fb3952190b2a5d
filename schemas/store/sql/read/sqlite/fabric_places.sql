-- Series of the fabric by group of their component and metric, then the same of each router, switch or host of the group ?1, or of
-- all: at most ?2, those with most contended series. The worst link is null where none is contended.
-- A component as a whole counts only where its links have no series of their own.
WITH places AS (
    SELECT switch AS component, min(group_name) AS group_name FROM node_places GROUP BY 1
    UNION ALL
    SELECT node, min(group_name) FROM node_places WHERE node NOT IN (SELECT switch FROM node_places) GROUP BY 1
), links AS MATERIALIZED (
    SELECT p.group_name, n.component, n.metric, n.name, n.state <> 'unknown' AS reporting, n.state = 'contended' AS contended,
           CASE WHEN n.state = 'contended' THEN coalesce(n.mean / nullif(n.bound, 0), 0) ELSE -1 END AS excess
    FROM series_now n LEFT JOIN places p USING (component)
    WHERE n.metric IN (SELECT m.metric FROM metrics m WHERE m.measures = 'link') AND (n.part IS NOT NULL OR NOT EXISTS (
        SELECT 1 FROM series t WHERE t.metric = n.metric AND t.component = n.component AND t.part IS NOT NULL))
)
-- SQLite takes the name from the row with the largest excess.
SELECT 'group' AS kind, l.group_name AS place, l.metric, count(*), sum(l.reporting), sum(l.contended) AS contended,
       iif(sum(l.contended) > 0, l.name, NULL), max(l.excess)
FROM links l GROUP BY 2, 3
UNION ALL
SELECT * FROM (
    SELECT 'switch', l.component, l.metric, count(*), sum(l.reporting), sum(l.contended), iif(sum(l.contended) > 0, l.name, NULL), max(l.excess)
    FROM links l WHERE ?1 IS NULL OR coalesce(l.group_name, '') = ?1 GROUP BY 2, 3 ORDER BY 6 DESC, 2, 3 LIMIT ?2
)
ORDER BY kind, contended DESC, place, 3
