-- Links of a region, worst first, then links that have left it; with current state and location.
WITH members AS (
    SELECT m.series, m.position, s.series_id FROM region_series m LEFT JOIN series s ON s.name = m.series
    WHERE m.region_id = $1::bigint ORDER BY m.position NULLS LAST, m.series COLLATE "C" LIMIT $2::bigint
), latest AS (
    -- The newest rows are read once for all of them.
    SELECT DISTINCT ON (r.series_id) r.series_id, r.state, r.mean FROM signals r
    WHERE r.time > latest_time() - interval '20 seconds'
      AND r.series_id = ANY (ARRAY(SELECT m.series_id FROM members m WHERE m.series_id IS NOT NULL))
    ORDER BY r.series_id, r.time DESC
)
SELECT m.series, m.position IS NOT NULL, coalesce(n.state, 'unknown'), n.mean::text::double precision, l.class, l.from_name, l.to_name
FROM members m LEFT JOIN latest n USING (series_id) LEFT JOIN link_places l ON l.series = m.series
ORDER BY m.position NULLS LAST, m.series COLLATE "C"
