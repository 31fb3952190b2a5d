-- Series with the largest loss: contended ones first, then by the lower end of what the episodes of the latest six hours lost;
-- those without an episode by the live estimate. Single precision is returned with its own digits: 0.3, not 0.30000001192092896.
WITH lost AS MATERIALIZED (
    SELECT e.series_id, sum(e.slowdown_s) AS lost_s, sum(e.slowdown_lo_s) AS lo_s, sum(e.slowdown_hi_s) AS hi_s
    FROM episodes e WHERE e.end_time >= latest_time() - interval '6 hours' GROUP BY 1
), picked AS (
    SELECT r.*, l.lost_s, l.lo_s, l.hi_s FROM (
        SELECT DISTINCT ON (r.series_id) r.* FROM signal_rows r
        WHERE r.time > latest_time() - interval '20 seconds'
        ORDER BY r.series_id, r.time DESC
    ) r LEFT JOIN lost l USING (series_id)
    WHERE r.slowdown_s > 0 OR r.state = 2 OR l.series_id IS NOT NULL
    ORDER BY r.state = 2 DESC, l.lo_s DESC NULLS LAST, l.lost_s DESC NULLS LAST, r.slowdown_s DESC, r.series_id
    LIMIT 12
)
SELECT s.series_id::bigint, s.name, s.metric, s.component, s.part, extract(epoch FROM p.time)::double precision, p.value::text::double precision,
       p.mean::text::double precision, p.baseline::text::double precision, p.bound::text::double precision, tailback_state(p.state),
       p.slowdown_s, p.lost_s, p.lo_s, p.hi_s
FROM picked p JOIN series s USING (series_id)
ORDER BY p.state = 2 DESC, p.lo_s DESC NULLS LAST, p.lost_s DESC NULLS LAST, p.slowdown_s DESC, p.series_id
