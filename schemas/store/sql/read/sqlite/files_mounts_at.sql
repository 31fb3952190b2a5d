-- Each mount at the time ?2, by the latest signals of the 5 s before: numbers of clients, with data, active and contended, and the
-- rate of all.
WITH clients AS (
    SELECT s.series_id, coalesce(s.part, '') AS mount,
           coalesce((SELECT max(r.time) FROM signal_rows r WHERE r.bucket = CAST(?2 / 10.0 AS INTEGER) AND r.series_id = s.series_id
                       AND r.time > ?2 - 5.0 AND r.time <= ?2),
                    (SELECT max(r.time) FROM signal_rows r WHERE r.bucket = CAST(?2 / 10.0 AS INTEGER) - 1
                       AND r.series_id = s.series_id AND r.time > ?2 - 5.0 AND r.time <= ?2)) AS time
    FROM series s WHERE s.metric = ?1
)
SELECT c.mount, count(*), count(*) FILTER (WHERE r.state <> 'unknown'), count(*) FILTER (WHERE r.state <> 'unknown' AND r.value > 0),
       count(*) FILTER (WHERE r.state = 'contended'), sum(r.value) FILTER (WHERE r.state <> 'unknown')
FROM clients c LEFT JOIN signal_rows r ON r.bucket = CAST(c.time / 10.0 AS INTEGER) AND r.series_id = c.series_id AND r.time = c.time
GROUP BY 1 ORDER BY 5 DESC, 1
