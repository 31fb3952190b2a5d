-- Latency from the sampler's clock to the commit, by stage: the slowest partition.
SELECT date_bin(make_interval(secs => greatest(60, $__interval_ms / 1000.0)), time, 'epoch') AS time, label AS metric, max(value) AS value
FROM health_minutes WHERE figure = 'lag_s' AND time BETWEEN $__timeFrom() AND $__timeTo() GROUP BY 1, 2 ORDER BY 1, 2
