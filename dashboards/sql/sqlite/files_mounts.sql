-- Each mount now: clients, those that are heard, write, and are contended, and what all write in bytes a second.
SELECT coalesce(n.part, ''), count(*), count(*) FILTER (WHERE n.state <> 'unknown'),
       count(*) FILTER (WHERE n.state <> 'unknown' AND n.value > 0), count(*) FILTER (WHERE n.state = 'contended'),
       sum(n.value) FILTER (WHERE n.state <> 'unknown')
FROM series_now n WHERE n.metric = 'lustre_write_rate' GROUP BY 1 ORDER BY 5 DESC, 1
