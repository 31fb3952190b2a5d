-- Only what is missing draws a number: a conflict would waste one.
INSERT INTO series (name, metric, component, part)
SELECT n.name, n.metric, n.component, n.part
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS n (name, metric, component, part)
WHERE NOT EXISTS (SELECT FROM series s WHERE s.name = n.name)
ORDER BY n.metric, n.component, n.name
ON CONFLICT (name) DO NOTHING
