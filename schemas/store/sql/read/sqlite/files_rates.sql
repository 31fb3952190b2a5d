-- Rate of all clients of a mount, in the metric's unit, by complete steps of ten seconds.
SELECT 10.0 * b.bucket, sum(b.value)
FROM (SELECT r.bucket, r.series_id, avg(r.value) AS value FROM signal_rows r
      WHERE r.bucket >= CAST((?2 - ?3) / 10.0 AS INTEGER) AND r.bucket < CAST(?2 / 10.0 AS INTEGER)
        AND r.series_id IN (SELECT s.series_id FROM series s WHERE s.metric = ?4 AND coalesce(s.part, '') = ?1)
      GROUP BY 1, 2) b
GROUP BY 1 ORDER BY 1
