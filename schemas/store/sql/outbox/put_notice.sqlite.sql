-- A repeated notice adds no row.
INSERT INTO alert_outbox (key, receiver, incident, sequence, kind, notice) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (key, receiver) DO NOTHING
