-- The series: reading, windowed mean, baseline, bound; and where it was contended, the share of the ticks.
SELECT date_bin(make_interval(secs => greatest(1, $__interval_ms / 1000.0)), t.at_time, 'epoch') AS time,
       avg(t.value) AS value, avg(t.mean) AS mean, avg(t.baseline) AS baseline, avg(t.bound) AS bound,
       sum(t.contended_ticks)::double precision / nullif(sum(t.ticks), 0) AS contended
FROM signals_over($__timeFrom(), $__timeTo(), $__interval_ms / 1000.0) t
WHERE t.series_id = (SELECT series_id FROM series WHERE name = ${series:sqlstring}) GROUP BY 1 ORDER BY 1
