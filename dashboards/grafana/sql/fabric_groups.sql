-- Share of ticks that were contended, a row of the map for each group.
SELECT date_bin(make_interval(secs => greatest(10, $__interval_ms / 1000.0)), p.at_time, 'epoch') AS time,
       coalesce(nullif(p.name, ''), 'not known') AS metric,
       sum(p.contended_ticks)::double precision / nullif(sum(p.ticks), 0) AS value
FROM places_over('group', $__timeFrom(), $__timeTo(), greatest(10, $__interval_ms / 1000.0)) p
WHERE p.metric = ${metric:sqlstring}
GROUP BY 1, 2 ORDER BY 1, 2
