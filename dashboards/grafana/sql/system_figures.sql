-- State of the whole machine, one row.
SELECT (SELECT count(*) FROM regions WHERE open) AS open_incidents,
       n.contended AS contended_series, n.contended::double precision / nullif(n.known, 0) AS contended_share,
       n.unknown AS unknown_series,
       (SELECT count(*) FROM jobs j WHERE j.end_time IS NULL OR j.end_time > (SELECT now FROM clock)) AS running_jobs,
       c.lost_node_hours, c.lost_lo_node_hours, c.lost_hi_node_hours,
       extract(epoch FROM now() - (SELECT now FROM clock))::double precision AS data_age_s
FROM (SELECT count(*) FILTER (WHERE state = 'contended') AS contended,
             count(*) FILTER (WHERE state NOT IN ('unknown', 'warmup')) AS known,
             count(*) FILTER (WHERE state = 'unknown') AS unknown FROM series_now) n
CROSS JOIN (SELECT sum(lost_node_hours) AS lost_node_hours, sum(lost_lo_node_hours) AS lost_lo_node_hours,
                   sum(lost_hi_node_hours) AS lost_hi_node_hours
            FROM job_costs WHERE start_time < $__timeTo() AND until_time > $__timeFrom()) c
