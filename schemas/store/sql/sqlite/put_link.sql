INSERT INTO link_places (series, class, from_name, to_name, bundle, bytes_per_s) VALUES (?1, ?2, ?3, ?4, ?5, nullif(?6, 0))
ON CONFLICT (series) DO NOTHING
