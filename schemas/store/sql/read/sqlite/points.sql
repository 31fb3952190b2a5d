-- ?4 is the tier; this store has only one.
SELECT time, value, mean, baseline, bound, state, slowdown_s FROM signals
WHERE series_id = (SELECT series_id FROM series WHERE name = ?1) AND time BETWEEN ?2 AND ?3 AND ?4 = 'ticks'
ORDER BY time
