-- What else there is of an incident for a receiver: notices behind the one of this sequence, whether one of them is its end,
-- whether one before it was delivered, and whether one before it was silenced.
SELECT cast(coalesce(sum(CASE WHEN sequence > $3 THEN 1 ELSE 0 END), 0) AS bigint),
       cast(coalesce(sum(CASE WHEN sequence > $3 AND kind = 'resolved' THEN 1 ELSE 0 END), 0) AS bigint),
       cast(coalesce(sum(CASE WHEN sequence < $3 AND delivered_s IS NOT NULL THEN 1 ELSE 0 END), 0) AS bigint),
       cast(coalesce(sum(CASE WHEN sequence < $3 AND state = 'silenced' THEN 1 ELSE 0 END), 0) AS bigint)
FROM alert_outbox WHERE receiver = $1 AND incident = $2
