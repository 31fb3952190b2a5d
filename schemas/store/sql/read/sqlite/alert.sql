SELECT incident, rule, severity, subject, state, started_s, fired_s, resolved_s, action, summary, notice
FROM alert_incidents WHERE incident = ?1
