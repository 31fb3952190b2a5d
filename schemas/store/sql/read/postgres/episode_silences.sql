SELECT producer, schema, extract(epoch FROM from_time)::double precision, extract(epoch FROM until_time)::double precision
FROM silences WHERE component = $1 AND from_time < to_timestamp($3) AND coalesce(until_time, 'infinity') > to_timestamp($2)
    AND part IN ('', coalesce((SELECT s.part FROM series s WHERE s.name = $4), ''))
ORDER BY from_time, producer LIMIT 20
