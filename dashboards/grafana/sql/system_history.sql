-- Share of all ticks that were contended, a row of the map for each group and each file system, at most 360 steps.
SELECT date_bin(make_interval(secs => m.step_s), p.at_time, 'epoch') AS time,
       coalesce(nullif(p.name, ''), 'not known') AS metric,
       sum(p.contended_ticks)::double precision / nullif(sum(p.ticks), 0) AS value
FROM (SELECT map_step_s($__timeFrom(), $__timeTo(), $__interval_ms / 1000.0) AS step_s) m CROSS JOIN LATERAL (
    SELECT * FROM places_over('file system', $__timeFrom(), $__timeTo(), m.step_s)
    UNION ALL
    SELECT * FROM places_over('group', $__timeFrom(), $__timeTo(), m.step_s)
    WHERE metric = ANY (ARRAY(SELECT k.metric FROM metrics k WHERE k.measures = 'link'))
) p
GROUP BY 1, 2 ORDER BY 1, 2
