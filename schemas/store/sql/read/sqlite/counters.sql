-- Counters of the series ?1 between ?2 and ?3, as means of steps of ?4 seconds.
SELECT CAST(time / ?4 AS INTEGER) * ?4, avg(passed_per_s), avg(waited_per_s) FROM signals
WHERE series_id = (SELECT series_id FROM series WHERE name = ?1) AND time BETWEEN ?2 AND ?3 AND passed_per_s IS NOT NULL
GROUP BY 1 ORDER BY 1
