-- Links of a region, worst first, then links that have left it; with current state and location.
SELECT m.series, m.position IS NOT NULL, coalesce(n.state, 'unknown'), n.mean, l.class, l.from_name, l.to_name
FROM region_series m LEFT JOIN series_now n ON n.name = m.series LEFT JOIN link_places l ON l.series = m.series
WHERE m.region_id = ?1 ORDER BY m.position IS NULL, m.position, m.series LIMIT ?2
