SELECT target, name, incident, value, until_s FROM alert_marks
WHERE receiver = $1 AND (until_s <= $2 OR incident = $3) ORDER BY target, name LIMIT 256
