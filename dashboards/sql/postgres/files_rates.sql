-- What all clients of a mount wrote in bytes a second, by the minute, as far as these are whole.
SELECT extract(epoch FROM time)::double precision, value_sum FROM places_1min
WHERE kind = 'file system' AND name = $1::text AND metric = 'lustre_write_rate'
  AND time >= to_timestamp($2::double precision - $3::double precision) AND time < to_timestamp($2::double precision)
  AND time <= places_known_until() - interval '90 seconds'
ORDER BY time
