-- Series with the largest loss: contended ones first, then those with an earlier loss. The ids are picked by the live
-- estimate, from the narrow table first; the picked ones are ordered by the lower end of what their episodes lost.
WITH picked AS (
    SELECT l.series_id, l.state = 'contended' AND l.time >= c.now - 5.0 AS contended, l.slowdown_s AS live_s
    FROM clock c CROSS JOIN series_latest l
    WHERE l.slowdown_s > 0.0 OR l.state = 'contended'
    ORDER BY contended DESC, live_s DESC, l.series_id
    LIMIT 12
), lost AS (
    SELECT e.series_id, sum(e.slowdown_s) AS lost_s, sum(e.slowdown_lo_s) AS lo_s, sum(e.slowdown_hi_s) AS hi_s
    FROM picked p JOIN episodes e USING (series_id) GROUP BY 1
)
SELECT p.series_id, n.name, n.metric, n.component, n.part, n.time, n.value, n.mean, n.baseline, n.bound, n.state, n.slowdown_s,
       l.lost_s, l.lo_s, l.hi_s
FROM picked p JOIN series_now n USING (series_id) LEFT JOIN lost l USING (series_id)
ORDER BY p.contended DESC, l.lo_s DESC NULLS LAST, l.lost_s DESC NULLS LAST, p.live_s DESC, p.series_id
