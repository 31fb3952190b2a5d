-- Share of ticks that were contended, by class of links.
SELECT date_bin(make_interval(secs => greatest(10, $__interval_ms / 1000.0)), p.at_time, 'epoch') AS time, p.name AS metric,
       sum(p.contended_ticks)::double precision / nullif(sum(p.ticks), 0) AS value
FROM places_over('link class', $__timeFrom(), $__timeTo(), greatest(10, $__interval_ms / 1000.0)) p
GROUP BY 1, 2 ORDER BY 1, 2
