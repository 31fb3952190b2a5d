INSERT INTO metrics (metric, title, unit, direction, measures, resource) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (metric) DO UPDATE SET title = excluded.title, unit = excluded.unit, direction = excluded.direction,
    measures = excluded.measures, resource = excluded.resource
WHERE (title, unit, direction, measures, resource)
    IS NOT (excluded.title, excluded.unit, excluded.direction, excluded.measures, excluded.resource)
