-- A repeated notice adds no row.
INSERT INTO alert_outbox (key, receiver, incident, sequence, kind, notice)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[])
ON CONFLICT (key, receiver) DO NOTHING
