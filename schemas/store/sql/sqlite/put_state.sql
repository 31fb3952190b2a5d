INSERT INTO state (name, version, content) VALUES (?1, ?2, ?3)
ON CONFLICT (name) DO UPDATE SET version = excluded.version, content = excluded.content
