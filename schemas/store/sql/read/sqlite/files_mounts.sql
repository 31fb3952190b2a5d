-- Each mount now: numbers of clients, with data, active and contended, and the rate of all.
SELECT coalesce(n.part, ''), count(*), count(*) FILTER (WHERE n.state <> 'unknown'),
       count(*) FILTER (WHERE n.state <> 'unknown' AND n.value > 0), count(*) FILTER (WHERE n.state = 'contended'),
       sum(n.value) FILTER (WHERE n.state <> 'unknown')
FROM series_now n WHERE n.metric = ?1 GROUP BY 1 ORDER BY 5 DESC, 1
