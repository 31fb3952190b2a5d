-- Share of all ticks that were contended, a row of the map for each group and each file system.
SELECT date_bin(make_interval(secs => greatest(60, $__interval_ms / 1000.0)), time, 'epoch') AS time,
       CASE WHEN kind = 'file system' THEN name ELSE coalesce(nullif(name, ''), 'not known') END AS metric,
       sum(contended_ticks)::double precision / nullif(sum(ticks), 0) AS value
FROM place_minutes
WHERE (kind = 'file system' OR kind = 'group' AND metric <> 'lustre_write_rate')
  AND time BETWEEN $__timeFrom() AND $__timeTo()
GROUP BY 1, 2 ORDER BY 1, 2
