DELETE FROM alert_outbox WHERE state NOT IN ('waiting', 'repeating') AND incident IN (
    SELECT incident FROM alert_incidents WHERE state = 'resolved' AND resolved_s < $1)
