-- Silent producers first, since a list of thousands is cut.
SELECT p.producer, p.schema, p.component, p.part, p.last_time, p.rows, p.last_time < c.now - 5.0 AS silent
FROM producers p CROSS JOIN clock c
ORDER BY silent DESC, p.producer, p.schema, p.component, p.part
LIMIT ?1
