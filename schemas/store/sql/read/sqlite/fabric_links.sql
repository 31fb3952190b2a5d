-- Links of the topology. By class and metric: with data and contended now, the share of the ticks of the latest ?1 seconds that were
-- contended, and the worst, which is null where none is contended.
-- Then at most ?2 groups of parallel links: of those with data after their warm-up the ratio of the worst to the mean, with class,
-- metric and name of the link with the largest mean. SQLite takes names from the row that holds the maximum.
WITH lately AS MATERIALIZED (
    -- Rows of one time range are stored next to each other.
    SELECT g.series_id, count(*) AS ticks, sum(g.state = 'contended') AS contended_ticks
    FROM clock c CROSS JOIN signal_rows g
    WHERE g.bucket >= CAST((c.now - ?1) / 10 AS INTEGER) AND g.time > c.now - ?1 AND g.state <> 'unknown'
    GROUP BY g.series_id
), latest AS MATERIALIZED (
    SELECT n.series_id, n.name, n.state, n.mean / nullif(n.bound, 0) AS excess FROM series_now n WHERE n.part IS NOT NULL
), classes AS (
    SELECT l.class, substr(l.series, 1, instr(l.series, '/') - 1) AS metric, count(*) AS links,
           count(*) FILTER (WHERE n.state <> 'unknown') AS reporting, count(*) FILTER (WHERE n.state = 'contended') AS contended,
           CAST(sum(m.contended_ticks) AS REAL) / nullif(sum(m.ticks), 0) AS contended_share, l.series,
           max(CASE WHEN n.state = 'contended' THEN coalesce(n.excess, 0) ELSE -1 END)
    FROM link_places l LEFT JOIN latest n ON n.name = l.series LEFT JOIN lately m ON m.series_id = n.series_id GROUP BY 1, 2
), bundles AS (
    SELECT l.bundle, l.class, n.metric, n.name, count(*) AS links, count(*) FILTER (WHERE n.state = 'contended') AS contended,
           max(n.mean) AS worst, avg(n.mean) AS mean
    FROM series_now n CROSS JOIN link_places l ON l.series = n.name
    WHERE l.bundle <> '' AND n.state NOT IN ('unknown', 'warmup') GROUP BY l.bundle HAVING count(*) > 1
)
SELECT 'class' AS kind, c.class, c.metric, NULL AS bundle, c.links, c.reporting, c.contended, NULL, NULL, NULL, c.contended_share AS figure,
       CASE WHEN c.contended > 0 THEN c.series END, 0 AS rank
FROM classes c
UNION ALL
SELECT * FROM (
    SELECT 'bundle', b.class, b.metric, b.bundle, b.links, b.links, b.contended,
           (SELECT count(*) FROM link_places k WHERE k.bundle = b.bundle AND k.bundle <> ''), b.worst, b.mean,
           b.worst / nullif(b.mean, 0) AS imbalance, CASE WHEN b.worst IS NOT NULL THEN b.name END, b.contended
    FROM bundles b ORDER BY b.contended DESC, imbalance DESC NULLS LAST, b.bundle LIMIT ?2
)
ORDER BY kind DESC, rank DESC, figure DESC NULLS LAST, bundle, class, metric
