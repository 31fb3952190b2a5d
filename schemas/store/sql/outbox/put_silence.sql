INSERT INTO alert_silences (id, matchers, from_s, until_s, author, comment) VALUES ($1, $2, $3, $4, $5, $6)
