INSERT INTO producers (producer, schema, component, last_time, rows) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (producer, schema, component) DO UPDATE SET last_time = excluded.last_time, rows = excluded.rows
