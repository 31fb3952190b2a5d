-- Sources of the counters behind the series: rows received, and time of the latest.
SELECT p.producer, p.schema, nullif(p.part, '') AS part, p.rows, p.last_time AS heard_time,
       extract(epoch FROM (SELECT now FROM clock) - p.last_time)::double precision AS silent_s
FROM producers p JOIN series s ON s.component = p.component
WHERE s.name = ${series:sqlstring} AND (p.part = '' OR s.part IS NULL OR p.part = s.part)
ORDER BY p.producer, p.schema
