SELECT id, matchers, from_s, until_s, author, comment FROM alert_silences WHERE until_s > ?1
ORDER BY until_s, id LIMIT 1000
