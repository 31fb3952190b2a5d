INSERT INTO metrics (metric, subject, title, unit, direction, measures, resource) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (metric) DO UPDATE SET subject = excluded.subject, title = excluded.title, unit = excluded.unit, direction = excluded.direction,
    measures = excluded.measures, resource = excluded.resource
WHERE (subject, title, unit, direction, measures, resource)
    IS NOT (excluded.subject, excluded.title, excluded.unit, excluded.direction, excluded.measures, excluded.resource)
