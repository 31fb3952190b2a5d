-- Share of ticks that were contended, by class of links.
SELECT date_bin(make_interval(secs => greatest(60, $__interval_ms / 1000.0)), time, 'epoch') AS time, name AS metric,
       sum(contended_ticks)::double precision / nullif(sum(ticks), 0) AS value
FROM place_minutes WHERE kind = 'link class' AND time BETWEEN $__timeFrom() AND $__timeTo()
GROUP BY 1, 2 ORDER BY 1, 2
