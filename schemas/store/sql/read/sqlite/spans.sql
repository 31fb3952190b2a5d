-- Episodes of one series that touch a range, to be shaded in its chart. An open one lasts until now.
SELECT id, start_time, end_time, open FROM episodes
WHERE series_id = (SELECT series_id FROM series WHERE name = ?1)
  AND start_time <= ?3 AND (end_time >= ?2 OR open = 1)
ORDER BY start_time DESC
LIMIT 1000
