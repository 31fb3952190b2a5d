INSERT INTO alert_incidents AS known (incident, rule, severity, subject, state, started_s, fired_s, resolved_s,
                                      valid_until_s, sequence, action, summary, notice)
SELECT DISTINCT ON (1) *
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::float8[], $7::float8[], $8::float8[],
            $9::float8[], $10::bigint[], $11::text[], $12::text[], $13::text[])
    AS n (incident, rule, severity, subject, state, started_s, fired_s, resolved_s, valid_until_s, sequence, action,
          summary, notice)
ORDER BY 1, n.sequence DESC
ON CONFLICT (incident) DO UPDATE SET
    state = excluded.state, resolved_s = excluded.resolved_s, valid_until_s = excluded.valid_until_s,
    sequence = excluded.sequence, action = excluded.action, summary = excluded.summary, notice = excluded.notice
WHERE excluded.sequence > known.sequence
