SELECT series_id, name, metric, component, part, time, value, mean, baseline, bound, state, slowdown_s,
       (SELECT sum(e.slowdown_s) FROM episodes e WHERE e.series_id = n.series_id),
       (SELECT sum(e.slowdown_lo_s) FROM episodes e WHERE e.series_id = n.series_id),
       (SELECT sum(e.slowdown_hi_s) FROM episodes e WHERE e.series_id = n.series_id)
FROM series_now n WHERE name = ?1
