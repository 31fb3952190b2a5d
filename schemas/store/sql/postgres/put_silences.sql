WITH last AS (
    SELECT DISTINCT ON (1, 2, 3, 4, 5) s.producer, s.schema, s.component, s.part, to_timestamp(s.since_s) AS from_time,
           to_timestamp(s.until_s) AS until_time, s.revoked
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::double precision[], $6::double precision[], $7::boolean[])
        WITH ORDINALITY AS s (producer, schema, component, part, since_s, until_s, revoked, place)
    ORDER BY 1, 2, 3, 4, 5, s.place DESC
), revoked AS (
    DELETE FROM silences s USING last l
    WHERE l.revoked AND (s.producer, s.schema, s.component, s.part, s.from_time)
        = (l.producer, l.schema, l.component, l.part, l.from_time)
)
INSERT INTO silences (producer, schema, component, part, from_time, until_time)
SELECT producer, schema, component, part, from_time, until_time FROM last WHERE NOT revoked
ON CONFLICT (producer, schema, component, part, from_time) DO UPDATE SET until_time = excluded.until_time
