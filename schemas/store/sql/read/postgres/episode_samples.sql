SELECT extract(epoch FROM time)::double precision, value::double precision, mean::double precision,
       baseline::double precision, bound::double precision, state, ticks::bigint
FROM signals WHERE series_id = $1::bigint::integer AND time > to_timestamp($2) AND time <= to_timestamp($3) ORDER BY time LIMIT 200
