-- Clients of a mount that were contended in the same ten seconds by metric, the maximum of each step.
SELECT date_bin(make_interval(secs => greatest(10, $__interval_ms / 1000.0)), p.at_time, 'epoch') AS time, p.name || ', ' || m.title AS metric,
       max(p.contended_series)::double precision AS value
FROM places_over('file system', $__timeFrom(), $__timeTo(), greatest(10, $__interval_ms / 1000.0)) p JOIN metrics m USING (metric)
WHERE p.name IN (${mount:sqlstring})
GROUP BY 1, 2 ORDER BY 1, 2
