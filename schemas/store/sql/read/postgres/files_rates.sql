-- Rate of all clients of a mount, in the metric's unit, by complete minutes.
SELECT extract(epoch FROM time)::double precision, value_sum FROM places_1min
WHERE kind = 'file system' AND name = $1::text AND metric = $4::text
  AND time >= to_timestamp($2::double precision - $3::double precision) AND time < to_timestamp($2::double precision)
  AND time <= places_known_until() - interval '90 seconds'
ORDER BY time
