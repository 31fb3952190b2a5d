-- What is newer was delivered.
UPDATE alert_outbox SET state = 'delivered' WHERE receiver = $1 AND incident = $2 AND sequence < $3 AND state = 'repeating'
