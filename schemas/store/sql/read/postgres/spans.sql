-- Episodes of one series that touch a range, to be shaded in its chart. An open one lasts until now.
SELECT source_partition * 1000000000000 + id, extract(epoch FROM start_time)::double precision,
       extract(epoch FROM end_time)::double precision, open
FROM episodes
WHERE series_id = (SELECT series_id FROM series WHERE name = $1::text)
  AND start_time <= to_timestamp($3::double precision) AND (end_time >= to_timestamp($2::double precision) OR open)
ORDER BY start_time DESC
LIMIT 1000
