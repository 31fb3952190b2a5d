SELECT series_id, name, metric, component, part, time, value, mean, baseline, bound, state, slowdown_s
FROM series_now WHERE name = ?1
