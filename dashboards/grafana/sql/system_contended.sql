-- Series of the whole machine that were contended in the same ten seconds, the maximum of each step.
SELECT date_bin(make_interval(secs => greatest(10, $__interval_ms / 1000.0)), p.at_time, 'epoch') AS time, p.metric,
       max(p.contended_series)::double precision AS value
FROM places_over('system', $__timeFrom(), $__timeTo(), greatest(10, $__interval_ms / 1000.0)) p
GROUP BY 1, 2 ORDER BY 1, 2
