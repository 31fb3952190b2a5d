INSERT INTO event_sources (producer, schema, component, last_time, rows)
SELECT DISTINCT ON (1, 2, 3) h.producer, h.schema, h.component, to_timestamp(h.last_s), h.rows
FROM unnest($1::text[], $2::text[], $3::text[], $4::double precision[], $5::bigint[])
    WITH ORDINALITY AS h (producer, schema, component, last_s, rows, place)
ORDER BY 1, 2, 3, h.place DESC
ON CONFLICT (producer, schema, component) DO UPDATE SET last_time = excluded.last_time, rows = excluded.rows
