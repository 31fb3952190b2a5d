-- Sums of the ends of the intervals of what `system_paid.sql` shows, in the same steps.
WITH span AS (
    SELECT x.step, date_bin(x.step, $__timeFrom()::timestamptz, 'epoch') AS from_time
    FROM (SELECT make_interval(secs => greatest(3600, $__interval_ms / 1000.0,
                                                3600 * ceil(extract(epoch FROM $__timeTo()::timestamptz - $__timeFrom()::timestamptz) / 648000))) AS step) x
), runs AS MATERIALIZED (
    SELECT j.* FROM job_costs j
    WHERE j.start_time < $__timeTo() AND (j.end_time IS NULL OR j.end_time > $__timeFrom()) AND j.until_time > $__timeFrom()
      AND j.lost_hi_s > 0 AND j.run_s > 0
), steps AS (
    SELECT r.*, s.step, generate_series(greatest(s.from_time, date_bin(s.step, r.start_time, 'epoch')),
                                        least(r.until_time, $__timeTo()::timestamptz), s.step) AS from_time
    FROM runs r CROSS JOIN span s
), parts AS (
    SELECT s.*, date_part('epoch', least(s.from_time + s.step, s.until_time) - greatest(s.from_time, s.start_time)) / s.run_s AS part
    FROM steps s WHERE s.from_time < s.until_time
)
SELECT p.from_time AS time, sum(p.part * p.lost_lo_node_hours) AS lost_lo_node_hours,
       sum(p.part * p.lost_hi_node_hours) AS lost_hi_node_hours
FROM parts p GROUP BY 1 ORDER BY 1
