-- Parallel links now: the ratio of the worst to the mean. Links without data or in warm-up are left out;
-- `links_known` counts them too.
SELECT b.bundle, b.class, b.metric, b.links, (SELECT count(*) FROM link_places k WHERE k.bundle = b.bundle AND k.bundle <> ''),
       b.contended_links, b.worst_ratio, b.mean_ratio, b.worst_ratio / nullif(b.mean_ratio, 0) AS imbalance,
       CASE WHEN b.worst_ratio IS NOT NULL THEN b.worst_series END
FROM (
    -- Class, metric and name are those of the row with the largest mean.
    SELECT l.bundle, l.class, n.metric, n.name AS worst_series, count(*) AS links,
           count(*) FILTER (WHERE n.state = 'contended') AS contended_links, max(n.mean) AS worst_ratio, avg(n.mean) AS mean_ratio
    FROM series_now n CROSS JOIN link_places l ON l.series = n.name
    WHERE l.bundle <> '' AND n.state NOT IN ('unknown', 'warmup')
    GROUP BY l.bundle HAVING count(*) > 1
) b
ORDER BY b.contended_links DESC, imbalance DESC NULLS LAST, b.bundle LIMIT ?1
