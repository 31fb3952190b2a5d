-- What is due for a receiver: of each incident the earliest notice that waits, so that their order holds. Rows that another
-- process looks at just now are passed over (PostgreSQL; SQLite has one writer at a time).
UPDATE alert_outbox SET
    leased_until_s = $4, leased_by = $5, attempts = attempts + 1, first_try_s = coalesce(first_try_s, $2)
WHERE receiver = $1 AND key IN (
    SELECT o.key FROM alert_outbox o
    WHERE o.receiver = $1 AND o.state IN ('waiting', 'repeating') AND o.next_try_s <= $2 AND o.leased_until_s <= $2
      AND NOT EXISTS (SELECT 1 FROM alert_outbox e
                      WHERE e.receiver = o.receiver AND e.incident = o.incident AND e.sequence < o.sequence
                        AND (e.state = 'waiting' OR e.leased_until_s > $2))
      AND (o.state = 'waiting' OR NOT EXISTS (
          SELECT 1 FROM alert_outbox l
          WHERE l.receiver = o.receiver AND l.incident = o.incident AND l.sequence > o.sequence))
    ORDER BY o.next_try_s, o.sequence, o.key LIMIT $3 /*skip locked*/)
RETURNING key, incident, sequence, kind, notice, state, attempts, first_try_s, delivered_s, held
