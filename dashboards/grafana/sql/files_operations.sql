-- Rates of all clients of a mount by metric, of those that do not count bytes.
SELECT date_bin(make_interval(secs => greatest(10, $__interval_ms / 1000.0)), p.at_time, 'epoch') AS time, p.name || ', ' || m.title AS metric,
       avg(p.value_sum) AS value
FROM places_over('file system', $__timeFrom(), $__timeTo(), greatest(10, $__interval_ms / 1000.0)) p JOIN metrics m USING (metric)
WHERE p.name IN (${mount:sqlstring}) AND m.measures = 'progress' AND m.unit <> 'bytes/s'
GROUP BY 1, 2 ORDER BY 1, 2
