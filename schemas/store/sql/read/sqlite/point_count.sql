SELECT count(*) FROM signals
WHERE series_id = (SELECT series_id FROM series WHERE name = ?1) AND time BETWEEN ?2 AND ?3 AND ?4 = 'ticks'
