-- Bytes that all clients of a mount write each second.
SELECT date_bin(make_interval(secs => greatest(60, $__interval_ms / 1000.0)), time, 'epoch') AS time, name AS metric,
       avg(value_sum) AS value
FROM place_minutes
WHERE kind = 'file system' AND name IN (${mount:sqlstring}) AND time BETWEEN $__timeFrom() AND $__timeTo()
GROUP BY 1, 2 ORDER BY 1, 2
