-- The latest signal of every series; $4 is the order, 'id' or 'slowdown'.
SELECT series_id::bigint, name, metric, component, part, extract(epoch FROM time)::double precision, value::double precision,
       mean::double precision, baseline::double precision, bound::double precision, state, slowdown_s
FROM series_now
WHERE ($1::text IS NULL OR metric = $1) AND ($2::text IS NULL OR state = $2) AND ($3::text IS NULL OR position($3 IN name) > 0)
ORDER BY CASE WHEN $4::text = 'slowdown' THEN -coalesce(slowdown_s, 0) ELSE 0 END, series_id
LIMIT $5::bigint OFFSET $6::bigint
