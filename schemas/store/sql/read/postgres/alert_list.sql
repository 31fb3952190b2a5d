SELECT incident, rule, severity, subject, state, started_s, fired_s, resolved_s, action, summary, notice
FROM alert_incidents WHERE state = 'firing' OR ($1 AND resolved_s >= $2)
ORDER BY state COLLATE "C", started_s DESC, incident COLLATE "C" LIMIT 1000
