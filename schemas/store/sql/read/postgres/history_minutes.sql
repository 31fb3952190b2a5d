-- Contended series of each minute from $1 on, by metric: of links those of all classes of the topology, without one all series.
WITH minutes AS (
    SELECT p.kind, p.time, p.metric, sum(p.contended_series)::bigint AS contended FROM places_1min p
    WHERE p.kind IN ('system', 'link class') AND p.time >= to_timestamp($1::double precision) GROUP BY 1, 2, 3
)
SELECT extract(epoch FROM n.time)::double precision, extract(epoch FROM n.time)::double precision + 60, n.metric, m.measures = 'link', n.contended
FROM minutes n JOIN metrics m USING (metric)
WHERE n.contended > 0 AND n.kind = CASE WHEN m.measures = 'link' AND EXISTS (
    SELECT FROM minutes l WHERE l.kind = 'link class' AND l.metric = n.metric) THEN 'link class' ELSE 'system' END
