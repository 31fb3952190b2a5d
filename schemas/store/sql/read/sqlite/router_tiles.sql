-- The series of the router ?1: its tiles, and itself where the part is null; with current state and incoming link.
SELECT n.name, n.part, n.state, n.value, n.mean, n.baseline, n.bound,
       (SELECT sum(e.slowdown_s) FROM episodes e WHERE e.series_id = n.series_id), l.class, l.from_name, l.to_name,
       (SELECT sum(e.slowdown_lo_s) FROM episodes e WHERE e.series_id = n.series_id),
       (SELECT sum(e.slowdown_hi_s) FROM episodes e WHERE e.series_id = n.series_id)
FROM series_now n LEFT JOIN link_places l ON l.series = n.name
WHERE n.metric = 'aries_stall_ratio' AND n.component = ?1 ORDER BY n.part IS NOT NULL, n.part LIMIT ?2
