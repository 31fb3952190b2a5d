SELECT incident, receiver, cast(sum(CASE WHEN state = 'waiting' THEN 1 ELSE 0 END) AS bigint),
       cast(sum(CASE WHEN state = 'dead' THEN 1 ELSE 0 END) AS bigint), max(last_error)
FROM alert_outbox WHERE state IN ('waiting', 'dead') GROUP BY incident, receiver
