-- One row per component at the time $7: its worst series represents it.
SELECT series_id::bigint, name, metric, component, part, extract(epoch FROM time)::double precision, value::double precision,
       mean::double precision, baseline::double precision, bound::double precision, state, slowdown_s,
       NULL::double precision, NULL::double precision, NULL::double precision
FROM (
    SELECT DISTINCT ON (metric COLLATE "C", component COLLATE "C") * FROM (
        SELECT s.*, l.time, l.value, l.mean, l.baseline, l.bound, coalesce(tailback_state(l.state), 'unknown') AS state, l.slowdown_s
        FROM series s LEFT JOIN (
            SELECT DISTINCT ON (r.series_id) r.time, r.slowdown_s, r.series_id, r.value, r.mean, r.baseline, r.bound, r.state
            FROM signal_rows r
            WHERE r.time > to_timestamp($7::double precision) - interval '20 seconds' AND r.time <= to_timestamp($7::double precision)
            ORDER BY r.series_id, r.time DESC
        ) l USING (series_id)
    ) n
    WHERE ($1::text IS NULL OR metric = $1) AND ($2::text IS NULL OR state = $2) AND ($3::text IS NULL OR position($3 IN name) > 0)
    ORDER BY metric COLLATE "C", component COLLATE "C",
             CASE state WHEN 'contended' THEN 1e15 + coalesce(slowdown_s, 0) WHEN 'unknown' THEN 4 WHEN 'warmup' THEN 3
                        WHEN 'clear' THEN 2 ELSE 1 END DESC, series_id
) worst
ORDER BY CASE WHEN $4::text = 'slowdown' THEN -coalesce(slowdown_s, 0) ELSE 0 END, metric COLLATE "C", component COLLATE "C"
LIMIT $5::bigint OFFSET $6::bigint
