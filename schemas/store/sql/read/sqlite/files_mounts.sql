-- Each mount now: numbers of clients, with data, writing and contended, and the write rate of all in bytes/s.
SELECT coalesce(n.part, ''), count(*), count(*) FILTER (WHERE n.state <> 'unknown'),
       count(*) FILTER (WHERE n.state <> 'unknown' AND n.value > 0), count(*) FILTER (WHERE n.state = 'contended'),
       sum(n.value) FILTER (WHERE n.state <> 'unknown')
FROM series_now n WHERE n.metric = 'lustre_write_rate' GROUP BY 1 ORDER BY 5 DESC, 1
