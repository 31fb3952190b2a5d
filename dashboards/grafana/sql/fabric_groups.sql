-- Share of ticks that were contended, a row of the map for each group.
SELECT date_bin(make_interval(secs => greatest(60, $__interval_ms / 1000.0)), time, 'epoch') AS time,
       coalesce(nullif(name, ''), 'not known') AS metric,
       sum(contended_ticks)::double precision / nullif(sum(ticks), 0) AS value
FROM place_minutes
WHERE kind = 'group' AND metric = ${metric:sqlstring} AND time BETWEEN $__timeFrom() AND $__timeTo()
GROUP BY 1, 2 ORDER BY 1, 2
