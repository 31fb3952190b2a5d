INSERT INTO link_places (series, class, from_name, to_name, bundle, bytes_per_s)
SELECT DISTINCT ON (1) l.series, l.class, l.from_name, l.to_name, l.bundle, nullif(l.bytes_per_s, 0)
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::float8[])
     AS l (series, class, from_name, to_name, bundle, bytes_per_s)
