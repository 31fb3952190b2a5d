-- Links of the topology by class and metric: with data and contended now, the share of the ticks of the latest ?1 seconds that
-- were contended, and the worst, which is null where none is contended.
WITH lately AS MATERIALIZED (
    -- Rows of one time range are stored next to each other.
    SELECT g.series_id, count(*) AS ticks, sum(g.state = 'contended') AS contended_ticks
    FROM clock c CROSS JOIN signal_rows g
    WHERE g.bucket >= CAST((c.now - ?1) / 10 AS INTEGER) AND g.time > c.now - ?1 AND g.state <> 'unknown'
    GROUP BY g.series_id
), latest AS MATERIALIZED (
    SELECT n.series_id, n.name, n.state, n.mean / nullif(n.bound, 0) AS excess FROM series_now n WHERE n.part IS NOT NULL
)
SELECT l.class, substr(l.series, 1, instr(l.series, '/') - 1) AS metric, count(*) AS links,
       count(*) FILTER (WHERE n.state <> 'unknown') AS reporting, count(*) FILTER (WHERE n.state = 'contended') AS contended,
       CAST(sum(m.contended_ticks) AS REAL) / nullif(sum(m.ticks), 0) AS contended_share,
       CASE WHEN count(*) FILTER (WHERE n.state = 'contended') > 0 THEN l.series END AS worst_series,
       max(CASE WHEN n.state = 'contended' THEN coalesce(n.excess, 0) ELSE -1 END)
FROM link_places l LEFT JOIN latest n ON n.name = l.series LEFT JOIN lately m ON m.series_id = n.series_id
GROUP BY 1, 2 ORDER BY contended_share DESC NULLS LAST, 1, 2
