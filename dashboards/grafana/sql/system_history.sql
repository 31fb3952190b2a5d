-- Share of all ticks that were contended, a row of the map for each group and each file system.
SELECT date_bin(make_interval(secs => greatest(10, $__interval_ms / 1000.0)), p.at_time, 'epoch') AS time,
       coalesce(nullif(p.name, ''), 'not known') AS metric,
       sum(p.contended_ticks)::double precision / nullif(sum(p.ticks), 0) AS value
FROM (SELECT * FROM places_over('file system', $__timeFrom(), $__timeTo(), greatest(10, $__interval_ms / 1000.0))
      UNION ALL
      SELECT * FROM places_over('group', $__timeFrom(), $__timeTo(), greatest(10, $__interval_ms / 1000.0))
      WHERE metric IN (SELECT m.metric FROM metrics m WHERE m.measures = 'link')) p
GROUP BY 1, 2 ORDER BY 1, 2
