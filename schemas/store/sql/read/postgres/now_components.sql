-- One row per component for very large systems: its worst series represents it.
-- Sorted by name: the position of a component does not depend on which of its series is the worst.
SELECT series_id::bigint, name, metric, component, part, extract(epoch FROM time)::double precision, value::double precision,
       mean::double precision, baseline::double precision, bound::double precision, state, slowdown_s
FROM (
    SELECT DISTINCT ON (metric COLLATE "C", component COLLATE "C") * FROM series_now
    WHERE ($1::text IS NULL OR metric = $1) AND ($2::text IS NULL OR state = $2) AND ($3::text IS NULL OR position($3 IN name) > 0)
    ORDER BY metric COLLATE "C", component COLLATE "C",
             CASE state WHEN 'contended' THEN 1e15 + coalesce(slowdown_s, 0) WHEN 'unknown' THEN 4 WHEN 'warmup' THEN 3
                        WHEN 'clear' THEN 2 ELSE 1 END DESC, series_id
) worst
ORDER BY CASE WHEN $4::text = 'slowdown' THEN -coalesce(slowdown_s, 0) ELSE 0 END, metric COLLATE "C", component COLLATE "C"
LIMIT $5::bigint OFFSET $6::bigint
