-- Minimum and maximum reading of each step.
SELECT date_bin(make_interval(secs => greatest(1, $__interval_ms / 1000.0)), t.at_time, 'epoch') AS time,
       min(t.value_min) AS least, max(t.value_max) AS largest
FROM signals_over($__timeFrom(), $__timeTo(), $__interval_ms / 1000.0) t
WHERE t.series_id = (SELECT series_id FROM series WHERE name = ${series:sqlstring}) GROUP BY 1 ORDER BY 1
