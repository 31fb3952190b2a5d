-- Links that leave or reach the vertex ?1 with the signal of each at the time ?2: its latest one of the 5 s before; at most ?3.
WITH links AS MATERIALIZED (
    SELECT l.*, s.series_id, s.metric,
           coalesce((SELECT max(r.time) FROM signal_rows r WHERE r.bucket = CAST(?2 / 10.0 AS INTEGER) AND r.series_id = s.series_id
                       AND r.time > ?2 - 5.0 AND r.time <= ?2),
                    (SELECT max(r.time) FROM signal_rows r WHERE r.bucket = CAST(?2 / 10.0 AS INTEGER) - 1
                       AND r.series_id = s.series_id AND r.time > ?2 - 5.0 AND r.time <= ?2)) AS time
    FROM link_places l LEFT JOIN series s ON s.name = l.series WHERE l.from_name = ?1 OR l.to_name = ?1
)
SELECT l.series, l.class, l.from_name, l.to_name, l.bundle, l.bytes_per_s, coalesce(r.state, 'unknown'), r.mean, r.bound
FROM links l LEFT JOIN signal_rows r ON r.bucket = CAST(l.time / 10.0 AS INTEGER) AND r.series_id = l.series_id AND r.time = l.time
ORDER BY l.series LIMIT ?3
