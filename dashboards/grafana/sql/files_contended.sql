-- Clients of a mount that were contended at some time of the minute.
SELECT date_bin(make_interval(secs => greatest(60, $__interval_ms / 1000.0)), time, 'epoch') AS time, name AS metric,
       max(contended_series)::double precision AS value
FROM place_minutes
WHERE kind = 'file system' AND name IN (${mount:sqlstring}) AND time BETWEEN $__timeFrom() AND $__timeTo()
GROUP BY 1, 2 ORDER BY 1, 2
