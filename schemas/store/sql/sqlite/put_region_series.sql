INSERT INTO region_series (region_id, series, position) VALUES (?1, ?2, ?3)
ON CONFLICT (region_id, series) DO UPDATE SET position = excluded.position
