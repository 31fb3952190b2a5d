-- Silent producers first, since a list of thousands is cut.
SELECT p.producer, p.schema, p.component, p.part, extract(epoch FROM p.last_time)::double precision, p.rows,
       p.last_time < c.now - interval '5 seconds' AS silent
FROM producers p CROSS JOIN clock c
ORDER BY silent DESC NULLS LAST, p.producer COLLATE "C", p.schema COLLATE "C", p.component COLLATE "C", p.part COLLATE "C"
LIMIT $1::bigint
