-- Ticks with data, and contended ones among them.
SELECT date_bin(make_interval(secs => greatest(60, $__interval_ms / 1000.0)), t.at_time, 'epoch') AS time,
       sum(t.ticks)::double precision AS ticks, sum(t.contended_ticks)::double precision AS contended_ticks
FROM signals_over($__timeFrom(), $__timeTo(), greatest(10, $__interval_ms / 1000.0)) t
WHERE t.series_id = (SELECT series_id FROM series WHERE name = ${series:sqlstring}) GROUP BY 1 ORDER BY 1
