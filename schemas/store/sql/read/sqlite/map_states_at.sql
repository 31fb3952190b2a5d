-- The same at the time ?1, from rows of the 5 s before it: of the ten seconds that hold it, else of those before.
SELECT l.state, group_concat(l.series_id, ' ') FROM (
    SELECT s.series_id, coalesce(
        (SELECT r.state FROM signal_rows r WHERE r.bucket = CAST(?1 / 10.0 AS INTEGER) AND r.series_id = s.series_id
           AND r.time > ?1 - 5.0 AND r.time <= ?1 ORDER BY r.time DESC LIMIT 1),
        (SELECT r.state FROM signal_rows r WHERE r.bucket = CAST(?1 / 10.0 AS INTEGER) - 1 AND r.series_id = s.series_id
           AND r.time > ?1 - 5.0 AND r.time <= ?1 ORDER BY r.time DESC LIMIT 1)) AS state
    FROM series s
) l WHERE l.state IS NOT NULL GROUP BY l.state
