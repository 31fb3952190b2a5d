INSERT INTO producers (producer, schema, component, part, last_time, rows)
SELECT DISTINCT ON (1, 2, 3, 4) h.producer, h.schema, h.component, h.part, to_timestamp(h.last_s), h.rows
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::double precision[], $6::bigint[])
    WITH ORDINALITY AS h (producer, schema, component, part, last_s, rows, place)
ORDER BY 1, 2, 3, 4, h.place DESC
ON CONFLICT (producer, schema, component, part) DO UPDATE SET last_time = excluded.last_time, rows = excluded.rows
