-- Links of the topology by class and metric: with data and contended now, the share of the ticks that were contended in the
-- latest $1 seconds of whole minutes, and the worst, which is null where none is contended.
WITH until AS (
    SELECT max(m.time) AS time FROM places_1min m
    WHERE m.kind = 'link class' AND m.time > latest_time() - interval '10 minutes' AND m.time <= places_known_until() - interval '90 seconds'
), lately AS (
    SELECT m.name, m.metric, sum(m.contended_ticks)::double precision / nullif(sum(m.ticks), 0)::double precision AS share
    FROM places_1min m CROSS JOIN until u
    WHERE m.kind = 'link class' AND m.time > u.time - make_interval(secs => $1::double precision) AND m.time <= u.time
    GROUP BY 1, 2
), links AS (
    SELECT l.class, split_part(l.series, '/', 1) AS metric, l.series, coalesce(n.state, 'unknown') AS state,
           n.mean / nullif(n.bound, 0) AS excess
    FROM link_places l LEFT JOIN series_now n ON n.name = l.series
)
SELECT l.class, l.metric, count(*), count(*) FILTER (WHERE l.state <> 'unknown'), count(*) FILTER (WHERE l.state = 'contended'),
       (SELECT y.share FROM lately y WHERE y.name = l.class AND y.metric = l.metric) AS share,
       (array_agg(l.series ORDER BY l.excess DESC NULLS LAST, l.series) FILTER (WHERE l.state = 'contended'))[1]
FROM links l GROUP BY l.class, l.metric ORDER BY share DESC NULLS LAST, l.class COLLATE "C", l.metric COLLATE "C"
