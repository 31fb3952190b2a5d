-- The largest rate of the clients of a mount ever seen in a minute, by metric, as a line.
SELECT t.time, c.name || ', ' || c.title || ': highest seen' AS metric, c.value
FROM (SELECT p.name, m.title, max(p.value_sum) AS value FROM places_1min p JOIN metrics m USING (metric)
      WHERE p.kind = 'file system' AND m.measures = 'progress' AND m.unit = 'bytes/s' AND p.name IN (${mount:sqlstring}) GROUP BY 1, 2) c
CROSS JOIN (VALUES ($__timeFrom()::timestamptz), ($__timeTo()::timestamptz)) AS t (time) ORDER BY 1, 2
