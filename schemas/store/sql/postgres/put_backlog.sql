INSERT INTO stage_backlog (stage, messages) SELECT * FROM unnest($1::text[], $2::bigint[])
ON CONFLICT (stage) DO UPDATE SET messages = excluded.messages, measured_at = excluded.measured_at
