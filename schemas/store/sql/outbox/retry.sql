-- Dead letters go again, unless the receiver knows something newer; waiting ones go at once.
UPDATE alert_outbox SET state = 'waiting', next_try_s = 0, first_try_s = NULL, attempts = 0
WHERE (key = $1 OR incident = $1 OR $1 = '') AND (receiver = $2 OR $2 = '') AND state IN ('dead', 'waiting')
  AND NOT EXISTS (SELECT 1 FROM alert_outbox l
                  WHERE l.receiver = alert_outbox.receiver AND l.incident = alert_outbox.incident
                    AND l.sequence > alert_outbox.sequence AND l.delivered_s IS NOT NULL)
