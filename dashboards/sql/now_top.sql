-- What hurts most: contended series first, then those that lost something before.
SELECT series_id, name, metric, component, part, time, value, mean, baseline, bound, state, slowdown_s
FROM series_now
WHERE slowdown_s > 0.0 OR state = 'contended'
ORDER BY state = 'contended' DESC, slowdown_s DESC, series_id
LIMIT 12
