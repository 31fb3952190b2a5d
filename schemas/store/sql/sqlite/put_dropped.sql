INSERT INTO dropped_rows (reason, count) VALUES (?1, ?2)
ON CONFLICT (reason) DO UPDATE SET count = excluded.count
