-- The latest signal of every series; ?4 is the order, 'id' or 'slowdown'.
SELECT series_id, name, metric, component, part, time, value, mean, baseline, bound, state, slowdown_s
FROM series_now
WHERE (?1 IS NULL OR metric = ?1) AND (?2 IS NULL OR state = ?2) AND (?3 IS NULL OR instr(name, ?3) > 0)
ORDER BY CASE ?4 WHEN 'slowdown' THEN -slowdown_s ELSE 0.0 END, series_id
LIMIT ?5 OFFSET ?6
