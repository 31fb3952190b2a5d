SELECT key, receiver, sequence, kind, state, attempts, next_try_s, delivered_s, last_error
FROM alert_outbox WHERE incident = $1 ORDER BY receiver, sequence
