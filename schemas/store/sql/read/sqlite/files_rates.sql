-- Rate of all clients of a mount ?1, in the unit of the metric ?4, of the range that ends at ?2 and is ?3 long: by complete steps of
-- ten seconds, of which every ?5th is read.
SELECT 10.0 * b.bucket, sum(b.value)
FROM (SELECT r.bucket, r.series_id, avg(r.value) AS value FROM signal_rows r
      WHERE r.bucket IN (
            WITH RECURSIVE steps (bucket) AS (
                SELECT CAST((?2 - ?3) / 10.0 AS INTEGER) / ?5 * ?5
                UNION ALL SELECT bucket + ?5 FROM steps WHERE bucket + ?5 < CAST(?2 / 10.0 AS INTEGER)
            ) SELECT bucket FROM steps)
        AND r.bucket >= CAST((?2 - ?3) / 10.0 AS INTEGER)
        AND r.series_id IN (SELECT s.series_id FROM series s WHERE s.metric = ?4 AND coalesce(s.part, '') = ?1)
      GROUP BY 1, 2) b
GROUP BY 1 ORDER BY 1
