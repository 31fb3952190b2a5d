-- The silent ones first: with thousands of producers these are the ones to see.
SELECT p.producer, p.schema, p.component, p.part, p.last_time, p.rows, p.last_time < c.now - 5.0 AS silent
FROM producers p CROSS JOIN clock c
ORDER BY silent DESC, p.producer, p.schema, p.component, p.part
LIMIT ?1
