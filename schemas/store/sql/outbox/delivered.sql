-- Only by who holds the lease. With a next time it is repeated until something newer is there.
UPDATE alert_outbox SET state = $4, delivered_s = coalesce(delivered_s, $5), next_try_s = $6, leased_until_s = 0, last_error = ''
WHERE key = $1 AND receiver = $2 AND leased_by = $3 AND leased_until_s > 0
