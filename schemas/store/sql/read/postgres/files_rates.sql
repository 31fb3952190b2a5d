-- Rate of all clients of a mount $1, in the unit of the metric $4, of the range that ends at $2 and is $3 long: by complete minutes,
-- or means of $5 of them.
SELECT floor(extract(epoch FROM time)::double precision / ($5::bigint * 60)) * ($5::bigint * 60)::double precision AS step, avg(value_sum) FROM places_1min
WHERE kind = 'file system' AND name = $1::text AND metric = $4::text
  AND time >= to_timestamp($2::double precision - $3::double precision) AND time < to_timestamp($2::double precision)
  AND time <= places_known_until() - interval '90 seconds'
GROUP BY 1 ORDER BY 1
