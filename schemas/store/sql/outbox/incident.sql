SELECT notice FROM alert_incidents WHERE incident = $1
