-- Share of ticks that were contended, a row of the map for each switch of the group: by minute in spans of six hours and
-- less of the latest seven, else by hour.
WITH fine AS (
    SELECT $__timeTo()::timestamptz - $__timeFrom()::timestamptz <= interval '6 hours'
           AND $__timeFrom()::timestamptz >= (SELECT now - interval '7 hours' FROM clock) AS by_minute
)
SELECT date_bin(make_interval(secs => greatest(60, $__interval_ms / 1000.0)), m.time, 'epoch') AS time,
       m.component AS metric, sum(m.contended_ticks)::double precision / nullif(sum(m.ticks), 0) AS value
FROM component_places p JOIN component_minutes m USING (metric, component)
WHERE p.metric = ${metric:sqlstring} AND p.group_name = ${group:sqlstring} AND m.time BETWEEN $__timeFrom() AND $__timeTo()
  AND (SELECT by_minute FROM fine)
GROUP BY 1, 2
UNION ALL
SELECT date_bin(make_interval(secs => greatest(3600, 4 * $__interval_ms / 1000.0)), h.time, 'epoch'), h.component,
       sum(h.contended_ticks)::double precision / nullif(sum(h.ticks), 0)
FROM component_places p JOIN component_hours h USING (metric, component)
WHERE p.metric = ${metric:sqlstring} AND p.group_name = ${group:sqlstring} AND h.time BETWEEN $__timeFrom() AND $__timeTo()
  AND (SELECT by_minute IS NOT TRUE FROM fine)
GROUP BY 1, 2 ORDER BY 1, 2
