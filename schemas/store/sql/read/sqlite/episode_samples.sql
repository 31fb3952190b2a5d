SELECT time, value, mean, baseline, bound, state, 1 FROM signals
WHERE series_id = ?1 AND time > ?2 AND time <= ?3 ORDER BY time LIMIT 200
