-- Every file system now. Its ceiling is the largest sum of bytes read and written by its clients ever seen in a minute.
SELECT n.part AS mount,
       CASE WHEN count(*) FILTER (WHERE n.state <> 'unknown') = 0 THEN 'unknown'
            WHEN count(*) FILTER (WHERE n.state = 'contended') > 0 THEN 'contended' ELSE 'clear' END AS state,
       sum(n.value) FILTER (WHERE m.unit = 'bytes/s')::double precision AS bytes_per_s,
       sum(n.value) FILTER (WHERE m.unit = 'bytes/s')::double precision / nullif(c.ceiling, 0) AS ceiling_share,
       count(DISTINCT n.component) FILTER (WHERE n.state = 'contended') AS contended_clients,
       count(DISTINCT n.component) FILTER (WHERE n.value > 0) AS active_clients, count(DISTINCT n.component) AS clients,
       count(*) FILTER (WHERE n.state <> 'unknown')::double precision / count(*) AS completeness
FROM series_now n JOIN metrics m USING (metric)
LEFT JOIN (SELECT x.name, max(x.moved) AS ceiling
           FROM (SELECT p.name, sum(p.value_sum) AS moved FROM places_1min p JOIN metrics b USING (metric)
                 WHERE p.kind = 'file system' AND b.unit = 'bytes/s' GROUP BY p.name, p.time) x GROUP BY 1) c ON c.name = n.part
WHERE m.measures = 'progress' AND n.part IS NOT NULL
GROUP BY n.part, c.ceiling ORDER BY 5 DESC, 1
