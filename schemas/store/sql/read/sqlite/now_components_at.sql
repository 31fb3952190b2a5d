-- One row per component at the time ?7: its worst series represents it. SQLite takes the other columns from the row that holds
-- the maximum.
WITH picked AS (
    SELECT s.*, coalesce((SELECT max(r.time) FROM signal_rows r WHERE r.bucket = CAST(?7 / 10.0 AS INTEGER) AND r.series_id = s.series_id
                            AND r.time > ?7 - 5.0 AND r.time <= ?7),
                         (SELECT max(r.time) FROM signal_rows r WHERE r.bucket = CAST(?7 / 10.0 AS INTEGER) - 1
                            AND r.series_id = s.series_id AND r.time > ?7 - 5.0 AND r.time <= ?7)) AS time
    FROM series s WHERE (?1 IS NULL OR s.metric = ?1) AND (?3 IS NULL OR instr(s.name, ?3) > 0)
), known AS (
    SELECT p.series_id, p.name, p.metric, p.component, p.part, r.time, r.value, r.mean, r.baseline, r.bound,
           coalesce(r.state, 'unknown') AS state, r.slowdown_s
    FROM picked p LEFT JOIN signal_rows r ON r.bucket = CAST(p.time / 10.0 AS INTEGER) AND r.series_id = p.series_id AND r.time = p.time
)
SELECT series_id, name, metric, component, part, time, value, mean, baseline, bound, state, slowdown_s, NULL, NULL, NULL
FROM (
    SELECT *, max(CASE state WHEN 'contended' THEN 1e15 + slowdown_s WHEN 'unknown' THEN 4.0
                             WHEN 'warmup' THEN 3.0 WHEN 'clear' THEN 2.0 ELSE 1.0 END) AS badness
    FROM known WHERE ?2 IS NULL OR state = ?2 GROUP BY metric, component
)
ORDER BY CASE ?4 WHEN 'slowdown' THEN -coalesce(slowdown_s, 0.0) ELSE 0.0 END, metric, component
LIMIT ?5 OFFSET ?6
