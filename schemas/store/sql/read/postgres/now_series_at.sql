-- The signal of every series at the time $7: its latest one of the 20 s before. Losses of episodes are not those of that time.
SELECT n.series_id::bigint, n.name, n.metric, n.component, n.part, extract(epoch FROM n.time)::double precision,
       n.value::double precision, n.mean::double precision, n.baseline::double precision, n.bound::double precision, n.state,
       n.slowdown_s, NULL::double precision, NULL::double precision, NULL::double precision
FROM (
    SELECT s.*, l.time, l.value, l.mean, l.baseline, l.bound, coalesce(tailback_state(l.state), 'unknown') AS state, l.slowdown_s
    FROM series s LEFT JOIN (
        SELECT DISTINCT ON (r.series_id) r.time, r.slowdown_s, r.series_id, r.value, r.mean, r.baseline, r.bound, r.state
        FROM signal_rows r
        WHERE r.time > to_timestamp($7::double precision) - interval '20 seconds' AND r.time <= to_timestamp($7::double precision)
        ORDER BY r.series_id, r.time DESC
    ) l USING (series_id)
) n
WHERE ($1::text IS NULL OR n.metric = $1) AND ($2::text IS NULL OR n.state = $2)
  AND ($3::text IS NULL OR position($3 IN n.name) > 0)
ORDER BY CASE WHEN $4::text = 'slowdown' THEN -coalesce(n.slowdown_s, 0) ELSE 0 END, n.series_id
LIMIT $5::bigint OFFSET $6::bigint
