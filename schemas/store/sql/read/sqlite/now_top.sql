-- Series with the largest loss: contended ones first, then by the lower end of what the episodes of the latest six hours lost;
-- those without an episode by the live estimate. The ids are picked from the narrow table first.
WITH lost AS MATERIALIZED (
    SELECT e.series_id, sum(e.slowdown_s) AS lost_s, sum(e.slowdown_lo_s) AS lo_s, sum(e.slowdown_hi_s) AS hi_s
    FROM clock c JOIN episodes e ON e.end_time >= c.now - 21600.0 GROUP BY 1
), picked AS (
    SELECT s.series_id, s.state = 'contended' AND s.time >= c.now - 5.0 AS contended, s.slowdown_s AS live_s, l.lost_s, l.lo_s, l.hi_s
    FROM clock c CROSS JOIN series_latest s LEFT JOIN lost l USING (series_id)
    WHERE s.slowdown_s > 0.0 OR s.state = 'contended' OR l.series_id IS NOT NULL
    ORDER BY contended DESC, l.lo_s DESC NULLS LAST, l.lost_s DESC NULLS LAST, live_s DESC, s.series_id
    LIMIT 12
)
SELECT p.series_id, n.name, n.metric, n.component, n.part, n.time, n.value, n.mean, n.baseline, n.bound, n.state, n.slowdown_s,
       p.lost_s, p.lo_s, p.hi_s
FROM picked p JOIN series_now n USING (series_id)
ORDER BY p.contended DESC, p.lo_s DESC NULLS LAST, p.lost_s DESC NULLS LAST, p.live_s DESC, p.series_id
