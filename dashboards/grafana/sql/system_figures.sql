-- State of the whole machine, one row. States have the numbers of `tailback_state`; a series without a signal in 20 s is unknown.
SELECT (SELECT count(*) FROM regions WHERE open) AS open_incidents,
       n.contended AS contended_series, n.contended::double precision / nullif(n.known, 0) AS contended_share,
       s.series - n.reporting AS unknown_series,
       (SELECT count(*) FROM jobs j WHERE j.end_time IS NULL OR j.end_time > (SELECT now FROM clock)) AS running_jobs,
       c.lost_node_hours, c.lost_lo_node_hours, c.lost_hi_node_hours,
       extract(epoch FROM now() - (SELECT now FROM clock))::double precision AS data_age_s
FROM (SELECT count(*) AS series FROM series) s
CROSS JOIN (SELECT count(*) FILTER (WHERE l.state = 2) AS contended, count(*) FILTER (WHERE l.state NOT IN (0, 4)) AS known,
                   count(*) FILTER (WHERE l.state <> 4) AS reporting
            FROM (SELECT DISTINCT ON (r.series_id) r.series_id, r.state FROM signal_rows r
                  WHERE r.time > latest_time() - interval '20 seconds' ORDER BY r.series_id, r.time DESC) l) n
CROSS JOIN (SELECT sum(lost_node_hours) AS lost_node_hours, sum(lost_lo_node_hours) AS lost_lo_node_hours,
                   sum(lost_hi_node_hours) AS lost_hi_node_hours
            FROM job_costs WHERE start_time < $__timeTo() AND until_time > $__timeFrom()) c
