-- One row per component for very large systems: its worst series represents it.
-- Sorted by name: the position of a component does not depend on which of its series is the worst. $4 is the order, 'id' or
-- 'slowdown': the lower end of what the episodes of all series of the component lost in the latest six hours.
WITH lost AS MATERIALIZED (
    SELECT s.metric, s.component, sum(e.slowdown_s) AS lost_s, sum(e.slowdown_lo_s) AS lo_s, sum(e.slowdown_hi_s) AS hi_s
    FROM episodes e JOIN series s USING (series_id)
    WHERE $4::text = 'slowdown' AND e.end_time >= latest_time() - interval '6 hours' GROUP BY 1, 2
), latest AS (
    SELECT DISTINCT ON (r.series_id) r.series_id, r.time, r.value, r.mean, r.baseline, r.bound, r.state, r.slowdown_s FROM signal_rows r
    WHERE r.time > latest_time() - interval '20 seconds'
    ORDER BY r.series_id, r.time DESC
), worst AS (
    -- Numbers are compared, in the order of the list, not rows: contended ones by their loss, then unknown, warmup, clear, idle.
    -- The values of the worst follow, so that its row is not searched again.
    SELECT s.metric, s.component,
           min(ARRAY[CASE l.state WHEN 0 THEN -3 WHEN 1 THEN -2 WHEN 2 THEN -1e15 - l.slowdown_s WHEN 3 THEN -1 ELSE -4 END, s.series_id,
                     l.slowdown_s, l.state, date_part('epoch', l.time), l.value, l.mean, l.baseline, l.bound]::double precision[]) AS pick
    FROM series s LEFT JOIN latest l USING (series_id)
    WHERE ($1::text IS NULL OR s.metric = $1) AND ($2::text IS NULL OR coalesce(tailback_state(l.state), 'unknown') = $2)
      AND ($3::text IS NULL OR position($3 IN s.name) > 0)
    GROUP BY 1, 2
), picked AS (
    SELECT w.*, row_number() OVER () AS place
    FROM (
        SELECT w.pick, l.lost_s, l.lo_s, l.hi_s FROM worst w LEFT JOIN lost l USING (metric, component)
        ORDER BY l.lo_s DESC NULLS LAST, l.lost_s DESC NULLS LAST, CASE WHEN $4::text = 'slowdown' THEN -coalesce(w.pick[3], 0) ELSE 0 END,
                 (w.metric || '/' || w.component) COLLATE "C"
        LIMIT $5::bigint OFFSET $6::bigint
    ) w
)
SELECT s.series_id::bigint, s.name, s.metric, s.component, s.part, p.pick[5], p.pick[6], p.pick[7], p.pick[8], p.pick[9],
       coalesce(tailback_state(p.pick[4]::smallint), 'unknown'), p.pick[3], p.lost_s, p.lo_s, p.hi_s
FROM picked p JOIN series s ON s.series_id = p.pick[2]::integer ORDER BY p.place
