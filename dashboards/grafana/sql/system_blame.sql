-- Node-hours that jobs lost to each other in the span, in the latest week of longer ones, by pair, largest lower end first; the loss of a
-- victim is spread evenly over its run.
WITH span AS (
    SELECT greatest($__timeFrom()::timestamptz, $__timeTo()::timestamptz - interval '7 days') AS from_time, $__timeTo()::timestamptz AS until_time
), pairs AS (
    SELECT b.victim, b.aggressor, sum(b.lost_s) AS lost_s, sum(b.lost_node_hours) AS hours, sum(b.lost_lo_node_hours) AS lo,
           sum(b.lost_hi_node_hours) AS hi,
           greatest(0, extract(epoch FROM least(max(b.until_time), s.until_time) - greatest(min(b.start_time), s.from_time))
                       / nullif(extract(epoch FROM max(b.until_time) - min(b.start_time)), 0))::double precision AS part
    FROM span s JOIN blame b ON b.start_time < s.until_time AND b.until_time > s.from_time GROUP BY b.victim, b.aggressor, s.from_time, s.until_time
), largest AS (
    SELECT * FROM pairs p WHERE p.part > 0 ORDER BY p.lo * p.part DESC, p.hours * p.part DESC, p.victim, p.aggressor LIMIT 200
)
SELECT p.victim, v.user_name AS victim_user, p.aggressor, a.user_name AS aggressor_user, p.hours * p.part AS lost_node_hours,
       p.lo * p.part AS lost_lo_node_hours, p.hi * p.part AS lost_hi_node_hours, p.lost_s * p.part AS lost_s
FROM largest p JOIN jobs v ON v.job_id = p.victim JOIN jobs a ON a.job_id = p.aggressor
ORDER BY 6 DESC, 5 DESC, 1, 3
