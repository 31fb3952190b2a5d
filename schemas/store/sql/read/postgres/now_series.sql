-- The latest signal of every series; $4 is the order, 'id' or 'slowdown': the lower end of what its episodes of the latest
-- six hours lost.
WITH lost AS MATERIALIZED (
    SELECT e.series_id, sum(e.slowdown_s) AS lost_s, sum(e.slowdown_lo_s) AS lo_s, sum(e.slowdown_hi_s) AS hi_s
    FROM episodes e WHERE $4::text = 'slowdown' AND e.end_time >= latest_time() - interval '6 hours' GROUP BY 1
)
SELECT n.series_id::bigint, n.name, n.metric, n.component, n.part, extract(epoch FROM n.time)::double precision,
       n.value::double precision, n.mean::double precision, n.baseline::double precision, n.bound::double precision, n.state,
       n.slowdown_s, l.lost_s, l.lo_s, l.hi_s
FROM series_now n LEFT JOIN lost l USING (series_id)
WHERE ($1::text IS NULL OR n.metric = $1) AND ($2::text IS NULL OR n.state = $2)
  AND ($3::text IS NULL OR position($3 IN n.name) > 0)
ORDER BY l.lo_s DESC NULLS LAST, l.lost_s DESC NULLS LAST,
         CASE WHEN $4::text = 'slowdown' THEN -coalesce(n.slowdown_s, 0) ELSE 0 END, n.series_id
LIMIT $5::bigint OFFSET $6::bigint
