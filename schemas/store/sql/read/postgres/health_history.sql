-- Metrics of Tailback itself in the latest $1 seconds, by minute: the slowest partition's lag of each stage, dropped
-- rows a minute by reason, silent sources. Where a minute is missing, rows are those of the time between.
WITH kept AS (
    SELECT h.figure, h.label, h.time, h.value, lag(h.value) OVER w AS value_before, lag(h.time) OVER w AS time_before
    FROM health_minutes h
    WHERE h.figure IN ('lag_s', 'dropped_rows', 'silent_sources') AND h.time > latest_time() - make_interval(secs => $1::double precision)
    WINDOW w AS (PARTITION BY h.figure, h.label ORDER BY h.time)
)
SELECT figure, label, extract(epoch FROM time)::double precision,
       CASE figure WHEN 'dropped_rows'
            THEN greatest(0, value - value_before) / nullif(extract(epoch FROM time - time_before)::double precision / 60, 0)
            ELSE value END
FROM kept WHERE figure <> 'dropped_rows' OR value_before IS NOT NULL
ORDER BY figure COLLATE "C", label COLLATE "C", time
