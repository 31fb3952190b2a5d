-- The same at the time $1, from rows of the 20 s before it.
SELECT tailback_state(l.state), string_agg(l.series_id::text, ' ') FROM (
    SELECT DISTINCT ON (r.series_id) r.series_id, r.state FROM signal_rows r
    WHERE r.time > to_timestamp($1::double precision) - interval '20 seconds' AND r.time <= to_timestamp($1::double precision)
    ORDER BY r.series_id, r.time DESC
) l GROUP BY l.state
