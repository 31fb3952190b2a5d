-- Links of the topology. By class and metric: with data and contended now, the share of the ticks that were contended in the
-- latest $1 seconds of whole minutes, and the worst, which is null where none is contended.
-- Then at most $2 groups of parallel links: of those with data after their warm-up the ratio of the worst to the mean, with class,
-- metric and name of the link with the largest mean.
WITH until AS (
    SELECT max(m.time) AS time FROM places_1min m
    WHERE m.kind = 'link class' AND m.time > latest_time() - interval '10 minutes' AND m.time <= places_known_until() - interval '90 seconds'
), lately AS (
    SELECT m.name, m.metric, sum(m.contended_ticks)::double precision / nullif(sum(m.ticks), 0)::double precision AS share
    FROM places_1min m CROSS JOIN until u
    WHERE m.kind = 'link class' AND m.time > u.time - make_interval(secs => $1::double precision) AND m.time <= u.time
    GROUP BY 1, 2
), latest AS (
    SELECT DISTINCT ON (r.series_id) r.series_id, r.state, r.mean, r.mean / nullif(r.bound, 0) AS excess FROM signal_rows r
    WHERE r.time > latest_time() - interval '20 seconds'
    ORDER BY r.series_id, r.time DESC
), counted AS MATERIALIZED (
    SELECT k.class, coalesce(s.metric, split_part(k.series, '/', 1)) AS metric, k.bundle, count(*) AS links,
           count(*) FILTER (WHERE l.state <> 4) AS reporting, count(*) FILTER (WHERE l.state = 2) AS contended,
           max(ARRAY[coalesce(l.excess, '-infinity'), -l.series_id]::double precision[]) FILTER (WHERE l.state = 2) AS worst,
           count(*) FILTER (WHERE l.state IN (1, 2, 3)) AS judged, count(l.mean) FILTER (WHERE l.state IN (1, 2, 3)) AS means,
           sum(l.mean::double precision) FILTER (WHERE l.state IN (1, 2, 3)) AS mean_sum,
           max(ARRAY[coalesce(l.mean, '-infinity'), -l.series_id]::double precision[]) FILTER (WHERE l.state IN (1, 2, 3) AND k.bundle <> '')
               AS largest
    FROM link_places k LEFT JOIN series s ON s.name = k.series LEFT JOIN latest l USING (series_id) GROUP BY 1, 2, 3
), classes AS (
    SELECT c.class, c.metric, sum(c.links)::bigint AS links, sum(c.reporting)::bigint AS reporting, sum(c.contended)::bigint AS contended,
           max(c.worst) AS worst
    FROM counted c GROUP BY 1, 2
), bundles AS (
    SELECT c.bundle, sum(c.links)::bigint AS known, sum(c.judged)::bigint AS links, sum(c.contended)::bigint AS contended,
           (sum(c.mean_sum) / nullif(sum(c.means), 0))::double precision AS mean, max(c.largest) AS largest
    FROM counted c WHERE c.bundle <> '' GROUP BY 1 HAVING sum(c.judged) > 1
), imbalanced AS (
    SELECT b.*, nullif(b.largest[1], '-infinity')::real::text::double precision AS worst FROM bundles b
)
SELECT u.kind, u.class, u.metric, u.bundle, u.links, u.reporting, u.contended, u.known, u.worst, u.mean, u.figure, u.name FROM (
    SELECT 'class' AS kind, c.class, c.metric, NULL::text AS bundle, c.links, c.reporting, c.contended, NULL::bigint AS known,
           NULL::double precision AS worst, NULL::double precision AS mean, y.share AS figure, s.name, 0::bigint AS rank
    FROM classes c LEFT JOIN lately y ON y.name = c.class AND y.metric = c.metric LEFT JOIN series s ON s.series_id = (-c.worst[2])::integer
    UNION ALL
    (SELECT 'bundle', k.class, s.metric, b.bundle, b.links, b.links, b.contended, b.known, b.worst, b.mean, b.worst / nullif(b.mean, 0) AS imbalance,
            CASE WHEN b.worst IS NOT NULL THEN s.name END, b.contended
     FROM imbalanced b JOIN series s ON s.series_id = (-b.largest[2])::integer JOIN link_places k ON k.series = s.name
     ORDER BY b.contended DESC, imbalance DESC NULLS LAST, b.bundle COLLATE "C" LIMIT $2::bigint)
) u
ORDER BY u.kind DESC, u.rank DESC, u.figure DESC NULLS LAST, u.bundle COLLATE "C", u.class COLLATE "C", u.metric COLLATE "C"
