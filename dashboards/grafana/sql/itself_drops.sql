-- Dropped rows a minute, by reason.
SELECT date_bin(make_interval(secs => greatest(60, $__interval_ms / 1000.0)), d.time, 'epoch') AS time, d.label AS metric,
       avg(greatest(0, d.value - d.before) / nullif(extract(epoch FROM d.time - d.time_before) / 60, 0))::double precision AS value
FROM (SELECT time, label, value, lag(value) OVER w AS before, lag(time) OVER w AS time_before FROM health_minutes
      WHERE figure = 'dropped_rows' AND time BETWEEN $__timeFrom() AND $__timeTo() WINDOW w AS (PARTITION BY label ORDER BY time)) d
WHERE d.before IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2
