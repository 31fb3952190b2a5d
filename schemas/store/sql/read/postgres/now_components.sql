-- One row per component for very large systems: its worst series represents it.
-- Sorted by name: the position of a component does not depend on which of its series is the worst. $4 is the order, 'id' or
-- 'slowdown': the lower end of what the episodes of all series of the component lost in the latest six hours.
WITH lost AS MATERIALIZED (
    SELECT s.metric, s.component, sum(e.slowdown_s) AS lost_s, sum(e.slowdown_lo_s) AS lo_s, sum(e.slowdown_hi_s) AS hi_s
    FROM episodes e JOIN series s USING (series_id)
    WHERE $4::text = 'slowdown' AND e.end_time >= latest_time() - interval '6 hours' GROUP BY 1, 2
)
SELECT n.series_id::bigint, n.name, n.metric, n.component, n.part, extract(epoch FROM n.time)::double precision, n.value::double precision,
       n.mean::double precision, n.baseline::double precision, n.bound::double precision, n.state, n.slowdown_s, l.lost_s, l.lo_s, l.hi_s
FROM (
    SELECT DISTINCT ON (metric COLLATE "C", component COLLATE "C") * FROM series_now
    WHERE ($1::text IS NULL OR metric = $1) AND ($2::text IS NULL OR state = $2) AND ($3::text IS NULL OR position($3 IN name) > 0)
    ORDER BY metric COLLATE "C", component COLLATE "C",
             CASE state WHEN 'contended' THEN 1e15 + coalesce(slowdown_s, 0) WHEN 'unknown' THEN 4 WHEN 'warmup' THEN 3
                        WHEN 'clear' THEN 2 ELSE 1 END DESC, series_id
) n LEFT JOIN lost l USING (metric, component)
ORDER BY l.lo_s DESC NULLS LAST, l.lost_s DESC NULLS LAST,
         CASE WHEN $4::text = 'slowdown' THEN -coalesce(n.slowdown_s, 0) ELSE 0 END, n.metric COLLATE "C", n.component COLLATE "C"
LIMIT $5::bigint OFFSET $6::bigint
