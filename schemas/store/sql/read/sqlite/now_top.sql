-- Series with the largest loss: contended ones first, then those with an earlier loss. The ids are picked from the
-- narrow table first.
WITH picked AS (
    SELECT l.series_id, l.state = 'contended' AND l.time >= c.now - 5.0 AS contended, l.slowdown_s AS lost
    FROM clock c CROSS JOIN series_latest l
    WHERE l.slowdown_s > 0.0 OR l.state = 'contended'
    ORDER BY contended DESC, lost DESC, l.series_id
    LIMIT 12
)
SELECT series_id, name, metric, component, part, time, value, mean, baseline, bound, state, slowdown_s
FROM picked JOIN series_now USING (series_id)
ORDER BY contended DESC, lost DESC, series_id
