INSERT INTO health_limits SELECT * FROM unnest($1::text[], $2::double precision[], $3::text[])
ON CONFLICT (name) DO UPDATE SET above = excluded.above, meaning = excluded.meaning
