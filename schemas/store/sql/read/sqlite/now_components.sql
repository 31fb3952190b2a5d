-- One row per component for very large systems: its worst series represents it. SQLite takes the other
-- columns from the row that holds the maximum.
-- Sorted by name: the position of a component does not depend on which of its series is the worst.
SELECT series_id, name, metric, component, part, time, value, mean, baseline, bound, state, slowdown_s
FROM (
    SELECT *, max(CASE state WHEN 'contended' THEN 1e15 + slowdown_s WHEN 'unknown' THEN 4.0
                             WHEN 'warmup' THEN 3.0 WHEN 'clear' THEN 2.0 ELSE 1.0 END) AS badness
    FROM series_now
    WHERE (?1 IS NULL OR metric = ?1) AND (?2 IS NULL OR state = ?2) AND (?3 IS NULL OR instr(name, ?3) > 0)
    GROUP BY metric, component
)
ORDER BY CASE ?4 WHEN 'slowdown' THEN -slowdown_s ELSE 0.0 END, metric, component
LIMIT ?5 OFFSET ?6
