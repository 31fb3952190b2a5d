SELECT notice FROM alert_incidents WHERE state = 'firing' ORDER BY started_s DESC, incident COLLATE "C" LIMIT 1000
