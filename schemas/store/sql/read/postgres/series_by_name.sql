-- One series with its latest signal. For a silent one the time is the end of the minute of its latest signal within a day,
-- else the end of the hour.
SELECT s.series_id::bigint, s.name, s.metric, s.component, s.part,
       extract(epoch FROM coalesce(l.time, least(latest_time(), coalesce(
           (SELECT max(m.time) + interval '1 minute' FROM signals_1min m
            WHERE m.series_id = s.series_id AND m.ticks > 0 AND m.time > latest_time() - interval '1 day'),
           (SELECT max(h.time) + interval '1 hour' FROM signals_1h h WHERE h.series_id = s.series_id AND h.ticks > 0)))))::double precision,
       l.value::text::double precision, l.mean::text::double precision, l.baseline::text::double precision,
       l.bound::text::double precision, coalesce(l.state, 'unknown'), l.slowdown_s, e.lost_s,
       e.lost_lo_s, e.lost_hi_s
FROM series s LEFT JOIN LATERAL (
    SELECT * FROM signals r WHERE r.series_id = s.series_id AND r.time > latest_time() - interval '20 seconds'
    ORDER BY r.time DESC LIMIT 1
) l ON true
LEFT JOIN LATERAL (
    SELECT sum(e.slowdown_s) AS lost_s, sum(e.slowdown_lo_s) AS lost_lo_s, sum(e.slowdown_hi_s) AS lost_hi_s
    FROM episodes e WHERE e.series_id = s.series_id
) e ON true
WHERE s.name = $1::text
