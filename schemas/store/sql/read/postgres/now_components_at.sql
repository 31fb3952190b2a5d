-- One row per component at the time $7: its worst series represents it, as in now_components.sql. $4 is the order, 'id' or 'slowdown': the
-- live estimate of that time.
WITH latest AS (
    SELECT DISTINCT ON (r.series_id) r.series_id, r.time, r.value, r.mean, r.baseline, r.bound, r.state, r.slowdown_s FROM signal_rows r
    WHERE r.time > to_timestamp($7::double precision) - interval '20 seconds' AND r.time <= to_timestamp($7::double precision)
    ORDER BY r.series_id, r.time DESC
), worst AS (
    SELECT s.metric, s.component,
           min(ARRAY[CASE l.state WHEN 0 THEN -3 WHEN 1 THEN -2 WHEN 2 THEN -1e15 - l.slowdown_s WHEN 3 THEN -1 ELSE -4 END, s.series_id,
                     l.slowdown_s, l.state, date_part('epoch', l.time), l.value, l.mean, l.baseline, l.bound]::double precision[]) AS pick
    FROM series s LEFT JOIN latest l USING (series_id)
    WHERE ($1::text IS NULL OR s.metric = $1) AND ($2::text IS NULL OR coalesce(tailback_state(l.state), 'unknown') = $2)
      AND ($3::text IS NULL OR position($3 IN s.name) > 0)
    GROUP BY 1, 2
), picked AS (
    SELECT w.pick, row_number() OVER () AS place
    FROM (
        SELECT w.pick FROM worst w
        ORDER BY CASE WHEN $4::text = 'slowdown' THEN -coalesce(w.pick[3], 0) ELSE 0 END, (w.metric || '/' || w.component) COLLATE "C"
        LIMIT $5::bigint OFFSET $6::bigint
    ) w
)
SELECT s.series_id::bigint, s.name, s.metric, s.component, s.part, p.pick[5], p.pick[6], p.pick[7], p.pick[8], p.pick[9],
       coalesce(tailback_state(p.pick[4]::smallint), 'unknown'), p.pick[3], NULL::double precision, NULL::double precision,
       NULL::double precision
FROM picked p JOIN series s ON s.series_id = p.pick[2]::integer ORDER BY p.place
