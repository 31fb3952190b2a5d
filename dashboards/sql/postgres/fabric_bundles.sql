-- Parallel links now: how much worse the worst of them is than their mean. Links that are not heard or warm up are left out;
-- `links_known` counts them too. Class, metric and name are those of the link with the largest mean.
SELECT b.bundle, b.class, b.metric, b.links, (SELECT count(*) FROM link_places k WHERE k.bundle = b.bundle AND k.bundle <> ''),
       b.contended_links, b.worst_ratio, b.mean_ratio, b.worst_ratio / nullif(b.mean_ratio, 0) AS imbalance,
       CASE WHEN b.worst_ratio IS NOT NULL THEN b.worst_series END
FROM (
    SELECT l.bundle, (array_agg(l.class ORDER BY n.mean DESC NULLS LAST, n.series_id))[1] AS class,
           (array_agg(n.metric ORDER BY n.mean DESC NULLS LAST, n.series_id))[1] AS metric,
           (array_agg(n.name ORDER BY n.mean DESC NULLS LAST, n.series_id))[1] AS worst_series, count(*) AS links,
           count(*) FILTER (WHERE n.state = 'contended') AS contended_links,
           max(n.mean)::text::double precision AS worst_ratio, avg(n.mean) AS mean_ratio
    FROM series_now n JOIN link_places l ON l.series = n.name
    WHERE l.bundle <> '' AND n.state NOT IN ('unknown', 'warmup')
    GROUP BY l.bundle HAVING count(*) > 1
) b
ORDER BY b.contended_links DESC, imbalance DESC NULLS LAST, b.bundle COLLATE "C" LIMIT $1::bigint
