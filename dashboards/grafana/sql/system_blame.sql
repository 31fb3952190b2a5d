-- Node-hours that jobs lost to each other in the span, by pair, largest lower end first; the loss of a victim is spread evenly over its run.
WITH pairs AS (
    SELECT b.victim, b.aggressor, sum(b.lost_s) AS lost_s, sum(b.lost_node_hours) AS hours, sum(b.lost_lo_node_hours) AS lo,
           sum(b.lost_hi_node_hours) AS hi,
           greatest(0, extract(epoch FROM least(max(b.until_time), $__timeTo()::timestamptz)
                                          - greatest(min(b.start_time), $__timeFrom()::timestamptz))
                       / nullif(extract(epoch FROM max(b.until_time) - min(b.start_time)), 0))::double precision AS part
    FROM blame b WHERE b.start_time < $__timeTo() AND b.until_time > $__timeFrom() GROUP BY 1, 2
)
SELECT p.victim, v.user_name AS victim_user, p.aggressor, a.user_name AS aggressor_user, p.hours * p.part AS lost_node_hours,
       p.lo * p.part AS lost_lo_node_hours, p.hi * p.part AS lost_hi_node_hours, p.lost_s * p.part AS lost_s
FROM pairs p JOIN jobs v ON v.job_id = p.victim JOIN jobs a ON a.job_id = p.aggressor
WHERE p.part > 0 ORDER BY 6 DESC, 5 DESC, 1, 3 LIMIT 200
