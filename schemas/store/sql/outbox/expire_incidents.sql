DELETE FROM alert_incidents WHERE state = 'resolved' AND resolved_s < $1
  AND NOT EXISTS (SELECT 1 FROM alert_outbox o WHERE o.incident = alert_incidents.incident)
