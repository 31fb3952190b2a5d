-- Numbers of the series by their latest state, in one text for each; a series without a row for 20 s is in none: a quiet one
-- writes one in ten.
SELECT tailback_state(l.state), string_agg(l.series_id::text, ' ') FROM (
    SELECT DISTINCT ON (r.series_id) r.series_id, r.state FROM signal_rows r
    WHERE r.time > latest_time() - interval '20 seconds' ORDER BY r.series_id, r.time DESC
) l GROUP BY l.state
