-- The same of each router, switch or host of a group; of all without a group.
-- A component as a whole counts only where its links have no series of their own.
WITH places AS (
    SELECT switch AS component, min(group_name) AS group_name FROM node_places GROUP BY 1
    UNION ALL
    SELECT node, min(group_name) FROM node_places WHERE node NOT IN (SELECT switch FROM node_places) GROUP BY 1
)
SELECT n.component, n.metric, count(*), count(*) FILTER (WHERE n.state <> 'unknown'),
       count(*) FILTER (WHERE n.state = 'contended'),
       CASE WHEN count(*) FILTER (WHERE n.state = 'contended') > 0 THEN n.name END,
       max(CASE WHEN n.state = 'contended' THEN coalesce(n.mean / nullif(n.bound, 0), 0) ELSE -1 END)
FROM series_now n LEFT JOIN places p USING (component)
WHERE n.metric IN (SELECT m.metric FROM metrics m WHERE m.measures = 'link') AND (n.part IS NOT NULL OR NOT EXISTS (
    SELECT 1 FROM series t WHERE t.metric = n.metric AND t.component = n.component AND t.part IS NOT NULL)) AND (?1 IS NULL OR coalesce(p.group_name, '') = ?1)
GROUP BY 1, 2 ORDER BY 5 DESC, 1, 2 LIMIT ?2
