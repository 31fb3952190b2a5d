-- Each mount at the time $2, by the latest signals of the 20 s before: numbers of clients, with data, active and contended, and the
-- rate of all.
WITH clients AS MATERIALIZED (
    SELECT s.series_id, coalesce(s.part, '') AS mount FROM series s WHERE s.metric = $1::text
), latest AS MATERIALIZED (
    SELECT DISTINCT ON (r.series_id) r.series_id, r.value::double precision AS value, tailback_state(r.state) AS state
    FROM signal_rows r
    WHERE r.time > to_timestamp($2::double precision) - interval '20 seconds' AND r.time <= to_timestamp($2::double precision)
      AND r.series_id IN (SELECT c.series_id FROM clients c)
    ORDER BY r.series_id, r.time DESC
)
SELECT c.mount, count(*), count(*) FILTER (WHERE n.state <> 'unknown'),
       count(*) FILTER (WHERE n.state <> 'unknown' AND n.value > 0), count(*) FILTER (WHERE n.state = 'contended'),
       sum(n.value) FILTER (WHERE n.state <> 'unknown')
FROM clients c LEFT JOIN latest n USING (series_id) GROUP BY 1 ORDER BY 5 DESC, c.mount COLLATE "C"
