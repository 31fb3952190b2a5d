INSERT INTO series (series_id, name, metric, component, part) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (series_id) DO UPDATE SET
    name = excluded.name, metric = excluded.metric, component = excluded.component, part = excluded.part
