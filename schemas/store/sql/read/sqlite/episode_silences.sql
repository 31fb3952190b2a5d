SELECT producer, schema, from_time, until_time FROM silences
WHERE component = ?1 AND from_time < ?3 AND coalesce(until_time, 9e12) > ?2
    AND part IN ('', coalesce((SELECT s.part FROM series s WHERE s.name = ?4), ''))
ORDER BY from_time, producer LIMIT 20
