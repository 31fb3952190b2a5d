-- Every file system now. Its ceiling is the largest write rate of its clients ever seen in a minute.
SELECT n.part AS mount,
       CASE WHEN count(*) FILTER (WHERE n.state <> 'unknown') = 0 THEN 'unknown'
            WHEN count(*) FILTER (WHERE n.state = 'contended') > 0 THEN 'contended' ELSE 'clear' END AS state,
       sum(n.value)::double precision AS write_bytes_per_s,
       sum(n.value)::double precision / nullif(c.ceiling, 0) AS ceiling_share,
       count(*) FILTER (WHERE n.state = 'contended') AS contended_clients,
       count(*) FILTER (WHERE n.value > 0) AS writing_clients, count(*) AS clients,
       count(*) FILTER (WHERE n.state <> 'unknown')::double precision / count(*) AS completeness
FROM series_now n
LEFT JOIN (SELECT name, max(value_sum) AS ceiling FROM places_1min WHERE kind = 'file system' AND metric = 'lustre_write_rate' GROUP BY 1) c ON c.name = n.part
WHERE n.metric = 'lustre_write_rate' AND n.part IS NOT NULL
GROUP BY n.part, c.ceiling ORDER BY 5 DESC, 1
