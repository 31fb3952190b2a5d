-- The catalogue of metrics, and whether there are series of each.
SELECT m.metric, m.subject, m.title, m.unit, m.measures, EXISTS (SELECT 1 FROM series s WHERE s.metric = m.metric)
FROM metrics m ORDER BY m.metric
