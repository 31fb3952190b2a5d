-- Parallel links now: the ratio of the worst to the mean. Links without data or in warm-up are left out;
-- `links_known` counts them too. Class, metric and name are those of the link with the largest mean.
WITH links AS MATERIALIZED (
    SELECT l.bundle, l.class, n.metric, n.name, n.series_id, n.state, n.mean
    FROM series_now n JOIN link_places l ON l.series = n.name
    WHERE l.bundle <> '' AND n.state NOT IN ('unknown', 'warmup')
), picked AS MATERIALIZED (
    SELECT bundle, count(*) AS links, count(*) FILTER (WHERE state = 'contended') AS contended_links, max(mean) AS worst,
           avg(mean) AS mean_ratio
    FROM links GROUP BY bundle HAVING count(*) > 1
    ORDER BY contended_links DESC, max(mean) / nullif(avg(mean), 0) DESC NULLS LAST, bundle COLLATE "C" LIMIT $1::bigint
), worst AS MATERIALIZED (
    SELECT DISTINCT ON (l.bundle) l.bundle, l.class, l.metric, l.name
    FROM links l WHERE l.bundle IN (SELECT p.bundle FROM picked p)
    ORDER BY l.bundle, l.mean DESC NULLS LAST, l.series_id
)
SELECT p.bundle, w.class, w.metric, p.links, (SELECT count(*) FROM link_places k WHERE k.bundle = p.bundle AND k.bundle <> ''),
       p.contended_links, p.worst::text::double precision, p.mean_ratio,
       p.worst::text::double precision / nullif(p.mean_ratio, 0) AS imbalance, CASE WHEN p.worst IS NOT NULL THEN w.name END
FROM picked p JOIN worst w USING (bundle)
ORDER BY p.contended_links DESC, imbalance DESC NULLS LAST, p.bundle COLLATE "C"
