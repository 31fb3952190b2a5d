-- The earliest minute from $1 on with signals; null without any.
SELECT extract(epoch FROM min(p.time))::double precision FROM places_1min p
WHERE p.kind = 'system' AND p.name = '' AND p.time >= to_timestamp($1::double precision)
