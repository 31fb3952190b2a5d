-- What was held back was not tried: neither does it count, nor does the time begin after which it is a dead letter.
UPDATE alert_outbox SET
    state = $4, next_try_s = $5, leased_until_s = 0, last_error = $6, held = cast($7 AS bigint),
    attempts = attempts - cast($7 AS bigint),
    first_try_s = CASE WHEN cast($7 AS bigint) = 1 AND attempts <= 1 THEN NULL ELSE first_try_s END
WHERE key = $1 AND receiver = $2 AND leased_by = $3 AND leased_until_s > 0
