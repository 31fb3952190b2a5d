-- Size of the database.
SELECT date_bin(make_interval(secs => greatest(60, $__interval_ms / 1000.0)), time, 'epoch') AS time, max(value) AS database_bytes
FROM health_minutes WHERE figure = 'database_bytes' AND time BETWEEN $__timeFrom() AND $__timeTo() GROUP BY 1 ORDER BY 1
