-- The latest signal of every series; ?4 is the order, 'id' or 'slowdown': the lower end of what its episodes of the latest
-- six hours lost.
WITH lost AS MATERIALIZED (
    SELECT e.series_id, sum(e.slowdown_s) AS lost_s, sum(e.slowdown_lo_s) AS lo_s, sum(e.slowdown_hi_s) AS hi_s
    FROM clock c JOIN episodes e ON e.end_time >= c.now - 21600.0 WHERE ?4 = 'slowdown' GROUP BY 1
)
SELECT n.series_id, n.name, n.metric, n.component, n.part, n.time, n.value, n.mean, n.baseline, n.bound, n.state, n.slowdown_s,
       l.lost_s, l.lo_s, l.hi_s
FROM series_now n LEFT JOIN lost l USING (series_id)
WHERE (?1 IS NULL OR n.metric = ?1) AND (?2 IS NULL OR n.state = ?2) AND (?3 IS NULL OR instr(n.name, ?3) > 0)
ORDER BY l.lo_s DESC NULLS LAST, l.lost_s DESC NULLS LAST, CASE ?4 WHEN 'slowdown' THEN -n.slowdown_s ELSE 0.0 END, n.series_id
LIMIT ?5 OFFSET ?6
