-- Metrics of clients of file systems that have series, with the number of their contended ones.
SELECT m.metric, m.title, m.unit, count(*) FILTER (WHERE n.state = 'contended')
FROM metrics m JOIN series_now n USING (metric) WHERE m.measures = 'progress'
GROUP BY m.metric ORDER BY m.resource, m.metric DESC
