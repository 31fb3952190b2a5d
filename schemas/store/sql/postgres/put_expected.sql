INSERT INTO expected_sources (producer, schema, component, copies, event_driven)
SELECT DISTINCT ON (1, 2, 3) * FROM unnest($1::text[], $2::text[], $3::text[], $4::smallint[], $5::boolean[])
ON CONFLICT (producer, schema, component) DO UPDATE SET copies = excluded.copies, event_driven = excluded.event_driven
