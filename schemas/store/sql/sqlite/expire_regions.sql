-- Steps, series, causes and victims of the region go with it.
DELETE FROM regions WHERE region_id IN (
    SELECT region_id FROM regions WHERE end_time < ?1 AND open = 0 ORDER BY end_time LIMIT ?2
)
