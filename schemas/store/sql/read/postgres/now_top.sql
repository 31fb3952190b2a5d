-- Series with the largest loss: contended ones first, then those with an earlier loss. They are picked by the live estimate
-- and ordered by the lower end of what their episodes lost. Single precision is returned with its
-- own digits: 0.3, not 0.30000001192092896.
WITH picked AS (
    SELECT l.* FROM (
        SELECT DISTINCT ON (r.series_id) r.* FROM signal_rows r
        WHERE r.time > latest_time() - interval '20 seconds'
        ORDER BY r.series_id, r.time DESC
    ) l
    WHERE l.slowdown_s > 0 OR l.state = 2
    ORDER BY l.state = 2 DESC, l.slowdown_s DESC, l.series_id
    LIMIT 12
)
SELECT s.series_id::bigint, s.name, s.metric, s.component, s.part, extract(epoch FROM p.time)::double precision, p.value::text::double precision,
       p.mean::text::double precision, p.baseline::text::double precision, p.bound::text::double precision, tailback_state(p.state),
       p.slowdown_s, l.lost_s, l.lo_s, l.hi_s
FROM picked p JOIN series s USING (series_id) LEFT JOIN LATERAL (
    SELECT sum(e.slowdown_s) AS lost_s, sum(e.slowdown_lo_s) AS lo_s, sum(e.slowdown_hi_s) AS hi_s
    FROM episodes e WHERE e.series_id = p.series_id
) l ON true
ORDER BY p.state = 2 DESC, l.lo_s DESC NULLS LAST, l.lost_s DESC NULLS LAST, p.slowdown_s DESC, p.series_id
