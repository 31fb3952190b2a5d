DELETE FROM episodes WHERE id IN (
    SELECT id FROM episodes WHERE end_time < ?1 AND open = 0 ORDER BY end_time LIMIT ?2
)
