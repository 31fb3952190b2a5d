-- The latest signal of every series; $4 is the order, 'id' or 'slowdown': the lower end of what its episodes of the latest
-- six hours lost. Those in the order of numbers are not all sorted.
WITH lost AS MATERIALIZED (
    SELECT e.series_id, sum(e.slowdown_s) AS lost_s, sum(e.slowdown_lo_s) AS lo_s, sum(e.slowdown_hi_s) AS hi_s
    FROM episodes e WHERE $4::text = 'slowdown' AND e.end_time >= latest_time() - interval '6 hours' GROUP BY 1
), picked AS (
    (SELECT n.*, NULL::double precision AS lost_s, NULL::double precision AS lo_s, NULL::double precision AS hi_s FROM series_now n
     WHERE $4::text = 'id' AND ($1::text IS NULL OR n.metric = $1) AND ($2::text IS NULL OR n.state = $2)
       AND ($3::text IS NULL OR position($3 IN n.name) > 0)
     ORDER BY n.series_id LIMIT $5::bigint OFFSET $6::bigint)
    UNION ALL
    (SELECT n.*, l.lost_s, l.lo_s, l.hi_s FROM series_now n LEFT JOIN lost l USING (series_id)
     WHERE $4::text = 'slowdown' AND ($1::text IS NULL OR n.metric = $1) AND ($2::text IS NULL OR n.state = $2)
       AND ($3::text IS NULL OR position($3 IN n.name) > 0)
     ORDER BY l.lo_s DESC NULLS LAST, l.lost_s DESC NULLS LAST, coalesce(n.slowdown_s, 0) DESC, n.series_id LIMIT $5::bigint OFFSET $6::bigint)
)
SELECT p.series_id::bigint, p.name, p.metric, p.component, p.part, extract(epoch FROM p.time)::double precision,
       p.value::double precision, p.mean::double precision, p.baseline::double precision, p.bound::double precision, p.state,
       p.slowdown_s, p.lost_s, p.lo_s, p.hi_s
FROM picked p
ORDER BY p.lo_s DESC NULLS LAST, p.lost_s DESC NULLS LAST, CASE WHEN $4::text = 'slowdown' THEN -coalesce(p.slowdown_s, 0) ELSE 0 END, p.series_id
