-- One row per component for very large systems: its worst series represents it. SQLite takes the other
-- columns from the row that holds the maximum.
-- Sorted by name: the position of a component does not depend on which of its series is the worst. ?4 is the order, 'id' or
-- 'slowdown': the lower end of what the episodes of all series of the component lost in the latest six hours.
WITH lost AS MATERIALIZED (
    SELECT s.metric, s.component, sum(e.slowdown_s) AS lost_s, sum(e.slowdown_lo_s) AS lo_s, sum(e.slowdown_hi_s) AS hi_s
    FROM clock c JOIN episodes e ON e.end_time >= c.now - 21600.0 JOIN series s USING (series_id) WHERE ?4 = 'slowdown' GROUP BY 1, 2
)
SELECT n.series_id, n.name, n.metric, n.component, n.part, n.time, n.value, n.mean, n.baseline, n.bound, n.state, n.slowdown_s,
       l.lost_s, l.lo_s, l.hi_s
FROM (
    SELECT *, max(CASE state WHEN 'contended' THEN 1e15 + slowdown_s WHEN 'unknown' THEN 4.0
                             WHEN 'warmup' THEN 3.0 WHEN 'clear' THEN 2.0 ELSE 1.0 END) AS badness
    FROM series_now
    WHERE (?1 IS NULL OR metric = ?1) AND (?2 IS NULL OR state = ?2) AND (?3 IS NULL OR instr(name, ?3) > 0)
    GROUP BY metric, component
) n LEFT JOIN lost l USING (metric, component)
ORDER BY l.lo_s DESC NULLS LAST, l.lost_s DESC NULLS LAST, CASE ?4 WHEN 'slowdown' THEN -n.slowdown_s ELSE 0.0 END, n.metric, n.component
LIMIT ?5 OFFSET ?6
