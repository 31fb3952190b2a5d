SELECT receiver, sequence, kind, state, attempts, delivered_s, last_error
FROM alert_outbox WHERE incident = ?1 ORDER BY receiver, sequence LIMIT 1000
