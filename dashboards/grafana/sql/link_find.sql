-- Series whose name contains the search text, contended ones first.
SELECT n.name AS series, n.state, n.value::double precision AS value, n.mean::double precision AS mean, n.baseline::double precision AS baseline,
       n.bound::double precision AS bound, n.slowdown_s AS lost_s
FROM series_now n
WHERE position(${search:sqlstring} IN n.name) > 0
ORDER BY n.state = 'contended' DESC, n.slowdown_s DESC NULLS LAST, n.name LIMIT 100
