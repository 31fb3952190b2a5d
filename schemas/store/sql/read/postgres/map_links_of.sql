-- Links that leave or reach the vertex $1 with the signal of each at the time $2: its latest one of the 20 s before; at most $3.
WITH links AS MATERIALIZED (
    SELECT l.*, s.series_id FROM link_places l LEFT JOIN series s ON s.name = l.series
    WHERE l.from_name = $1::text OR l.to_name = $1::text
), latest AS (
    SELECT DISTINCT ON (r.series_id) r.series_id, r.state, r.mean, r.bound FROM signals r
    WHERE r.time > to_timestamp($2::double precision) - interval '20 seconds' AND r.time <= to_timestamp($2::double precision)
      AND r.series_id = ANY (ARRAY(SELECT l.series_id FROM links l))
    ORDER BY r.series_id, r.time DESC
)
SELECT l.series, l.class, l.from_name, l.to_name, l.bundle, l.bytes_per_s, coalesce(n.state, 'unknown'),
       n.mean::text::double precision, n.bound::text::double precision
FROM links l LEFT JOIN latest n USING (series_id) ORDER BY l.series COLLATE "C" LIMIT $3::bigint
