INSERT INTO alert_marks (receiver, target, name, incident, value, until_s) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (receiver, target, name) DO UPDATE SET
    incident = excluded.incident, value = excluded.value, until_s = excluded.until_s
