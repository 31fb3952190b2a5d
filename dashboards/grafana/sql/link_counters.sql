-- Rates of the raw counters behind the series: traffic passed, and waits.
SELECT date_bin(make_interval(secs => greatest(1, $__interval_ms / 1000.0)), c.at_time, 'epoch') AS time,
       sum(c.passed_per_s * c.ticks) / sum(c.ticks) AS passed_per_s, sum(c.waited_per_s * c.ticks) / sum(c.ticks) AS waited_per_s
FROM counters_over(${series:sqlstring}, $__timeFrom(), $__timeTo(), $__interval_ms / 1000.0) c GROUP BY 1 ORDER BY 1
