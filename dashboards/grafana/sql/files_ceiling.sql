-- The largest write rate of the clients of a mount ever seen in a minute, as a line.
SELECT t.time, m.name || ': highest seen' AS metric, m.value
FROM (SELECT name, max(value_sum) AS value FROM places_1min
      WHERE kind = 'file system' AND metric = 'lustre_write_rate' AND name IN (${mount:sqlstring}) GROUP BY 1) m
CROSS JOIN (VALUES ($__timeFrom()::timestamptz), ($__timeTo()::timestamptz)) AS t (time) ORDER BY 1, 2
