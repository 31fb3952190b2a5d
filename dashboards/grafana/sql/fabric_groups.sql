-- Share of ticks that were contended, a row of the map for each group, at most 360 steps.
SELECT date_bin(make_interval(secs => m.step_s), p.at_time, 'epoch') AS time,
       coalesce(nullif(p.name, ''), 'not known') AS metric,
       sum(p.contended_ticks)::double precision / nullif(sum(p.ticks), 0) AS value
FROM (SELECT map_step_s($__timeFrom(), $__timeTo(), $__interval_ms / 1000.0) AS step_s) m
CROSS JOIN LATERAL places_over('group', $__timeFrom(), $__timeTo(), m.step_s) p
WHERE p.metric = ${metric:sqlstring}
GROUP BY 1, 2 ORDER BY 1, 2
