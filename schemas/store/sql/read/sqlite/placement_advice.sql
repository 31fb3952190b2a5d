-- What a job on the nodes of the JSON list ?1 would meet now: what they span, contended regions on their links, and the
-- share of the last hour in which their links were contended. The advice in words is PostgreSQL's alone.
WITH asked AS MATERIALIZED (SELECT DISTINCT value AS node FROM json_each(?1)),
placed AS MATERIALIZED (SELECT p.node, p.switch, p.group_name FROM node_places p WHERE p.node IN (SELECT node FROM asked)),
-- A join would scan all places for each node.
places AS MATERIALIZED (
    SELECT node, switch, group_name FROM placed
    UNION ALL
    SELECT node, NULL, NULL FROM asked WHERE node NOT IN (SELECT node FROM placed)
),
links AS MATERIALIZED (
    SELECT s.series_id, s.name FROM series s
    WHERE s.component IN (SELECT switch FROM places UNION SELECT node FROM asked)
), hour AS MATERIALIZED (
    -- The rows of one hour lie side by side.
    SELECT g.series_id, avg(g.state = 'contended') AS share FROM signal_rows g CROSS JOIN clock c
    WHERE g.bucket >= CAST((c.now - 3600) / 10 AS INTEGER) AND g.time > c.now - 3600
      AND g.series_id IN (SELECT series_id FROM links)
    GROUP BY g.series_id
)
SELECT 'span' AS topic, 'switches' AS name, count(DISTINCT switch) AS figure, 'switches' AS unit,
       count(*) FILTER (WHERE switch IS NULL) || ' nodes without a known switch' AS detail FROM places
UNION ALL SELECT 'span', 'groups', count(DISTINCT group_name), 'groups', NULL FROM places
UNION ALL SELECT 'expected contention', 'mean of its links', avg(share), 'share of time',
                 count(*) || ' of ' || (SELECT count(*) FROM links) || ' links were measured' FROM hour
UNION ALL SELECT 'expected contention', 'worst link', max(share), 'share of time', NULL FROM hour
UNION ALL SELECT 'open region', r.name, count(*), 'links of these nodes', r.cause || ', ' || r.kind
          FROM regions r JOIN region_series m USING (region_id) JOIN links l ON l.name = m.series
          WHERE r.open AND m.position IS NOT NULL GROUP BY r.region_id
