INSERT INTO silences (producer, schema, component, part, from_time, until_time) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (producer, schema, component, part, from_time) DO UPDATE SET until_time = excluded.until_time
