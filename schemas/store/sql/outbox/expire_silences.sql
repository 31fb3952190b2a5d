DELETE FROM alert_silences WHERE until_s < $1
