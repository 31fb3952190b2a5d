SELECT notice FROM alert_incidents WHERE state = 'firing' OR (cast($1 AS bigint) = 1 AND resolved_s >= $2)
ORDER BY state, started_s DESC, incident LIMIT $3
