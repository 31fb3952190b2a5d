-- Every group now, by metric.
SELECT coalesce(nullif(p.group_name, ''), 'not known') AS group_name, n.metric,
       CASE WHEN count(*) FILTER (WHERE n.state <> 'unknown') = 0 THEN 'unknown'
            WHEN count(*) FILTER (WHERE n.state = 'contended') > 0 THEN 'contended'
            WHEN count(*) FILTER (WHERE n.state = 'warmup') > count(*) / 2 THEN 'warmup' ELSE 'clear' END AS state,
       count(*) FILTER (WHERE n.state = 'contended')::double precision
           / nullif(count(*) FILTER (WHERE n.state NOT IN ('unknown', 'warmup')), 0) AS contended_share,
       count(*) FILTER (WHERE n.state = 'contended') AS contended_series, count(*) AS series,
       count(*) FILTER (WHERE n.state <> 'unknown')::double precision / count(*) AS completeness,
       (array_agg(n.name ORDER BY n.mean / nullif(n.bound, 0) DESC NULLS LAST) FILTER (WHERE n.state = 'contended'))[1] AS worst_series
FROM series_now n JOIN component_places p USING (metric, component)
WHERE n.metric IN (SELECT m.metric FROM metrics m WHERE m.measures = 'link')
GROUP BY p.group_name, n.metric ORDER BY 4 DESC NULLS LAST, 1, 2
