INSERT INTO metrics AS m (metric, subject, title, unit, direction, measures, resource)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
ON CONFLICT (metric) DO UPDATE SET subject = excluded.subject, title = excluded.title, unit = excluded.unit, direction = excluded.direction,
    measures = excluded.measures, resource = excluded.resource
WHERE (m.subject, m.title, m.unit, m.direction, m.measures, m.resource)
    IS DISTINCT FROM (excluded.subject, excluded.title, excluded.unit, excluded.direction, excluded.measures, excluded.resource)
