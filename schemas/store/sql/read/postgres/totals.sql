-- Everything that is counted over all series, in one pass: how many there are, how many have a signal within the latest 20 s
-- (a quiet one writes a row in ten), their loss, and the states; series without data are unknown.
SELECT s.series, count(l.series_id), coalesce(sum(l.slowdown_s), 0), count(*) FILTER (WHERE l.state = 0),
       count(*) FILTER (WHERE l.state = 1), count(*) FILTER (WHERE l.state = 2), count(*) FILTER (WHERE l.state = 3),
       s.series - count(*) FILTER (WHERE l.state <> 4)
FROM (SELECT count(*) AS series FROM series) s LEFT JOIN (
    SELECT DISTINCT ON (r.series_id) r.series_id, r.state, r.slowdown_s FROM signal_rows r
    WHERE r.time > latest_time() - interval '20 seconds'
    ORDER BY r.series_id, r.time DESC
) l ON true GROUP BY s.series
