-- Expected sources, and silent ones among them.
SELECT date_bin(make_interval(secs => greatest(60, $__interval_ms / 1000.0)), time, 'epoch') AS time,
       CASE figure WHEN 'sources' THEN 'expected' ELSE 'silent' END AS metric, max(value) AS value
FROM health_minutes WHERE figure IN ('sources', 'silent_sources') AND time BETWEEN $__timeFrom() AND $__timeTo()
GROUP BY 1, 2 ORDER BY 1, 2
