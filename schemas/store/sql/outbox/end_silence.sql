UPDATE alert_silences SET until_s = $2 WHERE id = $1 AND until_s > $2
