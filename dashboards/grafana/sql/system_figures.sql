-- State of the whole machine, one row.
SELECT (SELECT count(*) FROM regions WHERE open) AS open_incidents,
       n.contended AS contended_series, n.contended::double precision / nullif(n.known, 0) AS contended_share,
       n.unknown AS unknown_series,
       (SELECT count(*) FROM jobs j WHERE j.end_time IS NULL OR j.end_time > (SELECT now FROM clock)) AS running_jobs,
       (SELECT sum(s.slowdown_s * s.nodes) / 3600 FROM job_slowdown s
        WHERE s.start_time < $__timeTo() AND coalesce(s.end_time, $__timeTo()) > $__timeFrom()) AS lost_node_hours,
       extract(epoch FROM now() - (SELECT now FROM clock))::double precision AS data_age_s
FROM (SELECT count(*) FILTER (WHERE state = 'contended') AS contended,
             count(*) FILTER (WHERE state NOT IN ('unknown', 'warmup')) AS known,
             count(*) FILTER (WHERE state = 'unknown') AS unknown FROM series_now) n
