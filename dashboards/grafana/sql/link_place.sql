-- Properties and current state of the series.
SELECT n.name AS series, n.metric, nullif(p.group_name, '') AS group_name, n.component AS router, n.part, l.class, l.from_name, l.to_name,
       nullif(l.bundle, '') AS bundle, l.bytes_per_s, n.state, n.mean::double precision AS mean, n.baseline::double precision AS baseline,
       n.bound::double precision AS bound, n.time AS heard_time
FROM series_now n LEFT JOIN component_places p USING (metric, component) LEFT JOIN link_places l ON l.series = n.name
WHERE n.series_id = (SELECT series_id FROM series WHERE name = ${series:sqlstring})
