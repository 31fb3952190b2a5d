-- Of names that were not there a moment ago. One that somebody else numbered meanwhile does not come back.
INSERT INTO series (name, metric, component, part)
SELECT n.name, n.metric, n.component, n.part
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS n (name, metric, component, part)
ORDER BY n.metric, n.component, n.name
ON CONFLICT (name) DO NOTHING
RETURNING name, series_id
