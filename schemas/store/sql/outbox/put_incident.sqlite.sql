INSERT INTO alert_incidents (incident, rule, severity, subject, state, started_s, fired_s, resolved_s,
                             valid_until_s, sequence, action, summary, notice)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
ON CONFLICT (incident) DO UPDATE SET
    state = excluded.state, resolved_s = excluded.resolved_s, valid_until_s = excluded.valid_until_s,
    sequence = excluded.sequence, action = excluded.action, summary = excluded.summary, notice = excluded.notice
WHERE excluded.sequence > alert_incidents.sequence
