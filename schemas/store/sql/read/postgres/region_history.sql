-- Timeline of a region, latest steps first.
SELECT extract(epoch FROM s.time)::double precision, s.change, nullif(s.other, 0) AS other, o.name, s.links::bigint, s.worst_series,
       s.worst
FROM region_steps s LEFT JOIN regions o ON o.region_id = s.other
WHERE s.region_id = $1::bigint ORDER BY s.time DESC, s.change COLLATE "C" DESC, s.other DESC LIMIT $2::bigint
