-- Share of the expected sources that report, minute by minute.
SELECT date_bin(make_interval(secs => greatest(60, $__interval_ms / 1000.0)), a.time, 'epoch') AS time,
       1 - avg(s.value) / nullif(avg(a.value), 0) AS completeness
FROM health_minutes a JOIN health_minutes s ON s.figure = 'silent_sources' AND s.time = a.time
WHERE a.figure = 'sources' AND a.time BETWEEN $__timeFrom() AND $__timeTo()
GROUP BY 1 ORDER BY 1
