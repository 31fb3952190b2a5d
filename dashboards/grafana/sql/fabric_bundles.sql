-- Parallel links now: the ratio of the worst to the mean.
SELECT l.bundle, min(l.class) AS class, count(*) AS links, count(*) FILTER (WHERE n.state = 'contended') AS contended_links,
       max(n.mean)::double precision AS worst_ratio, avg(n.mean)::double precision AS mean_ratio,
       max(n.mean)::double precision / nullif(avg(n.mean), 0) AS imbalance,
       (array_agg(n.name ORDER BY n.mean DESC NULLS LAST))[1] AS worst_series
FROM link_places l JOIN series_now n ON n.name = l.series
WHERE l.bundle <> '' AND n.state NOT IN ('unknown', 'warmup')
GROUP BY l.bundle HAVING count(*) > 1 ORDER BY contended_links DESC, imbalance DESC NULLS LAST LIMIT 50
