SELECT receiver, state, count(*), min(first_try_s) FROM alert_outbox GROUP BY receiver, state ORDER BY receiver, state
