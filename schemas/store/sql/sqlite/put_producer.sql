INSERT INTO producers (producer, schema, component, part, last_time, rows) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (producer, schema, component, part) DO UPDATE SET last_time = excluded.last_time, rows = excluded.rows
