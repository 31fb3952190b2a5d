-- The signal of every series at the time ?7: its latest one of the 5 s before. Losses of episodes are not those of that time.
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
SELECT n.series_id, n.name, n.metric, n.component, n.part, n.time, n.value, n.mean, n.baseline, n.bound, n.state, n.slowdown_s,
       NULL, NULL, NULL
FROM known n WHERE ?2 IS NULL OR n.state = ?2
ORDER BY CASE ?4 WHEN 'slowdown' THEN -coalesce(n.slowdown_s, 0.0) ELSE 0.0 END, n.series_id
LIMIT ?5 OFFSET ?6
