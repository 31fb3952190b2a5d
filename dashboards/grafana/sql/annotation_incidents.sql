-- Incidents of the span as annotations of all charts.
SELECT i.start_time AS time, i.end_time AS timeend, i.name AS title,
       i.cause || CASE WHEN i.lost_s IS NULL THEN '' ELSE ', lost ' || round(i.lost_lo_s::numeric, 1) || ' to ' || round(i.lost_hi_s::numeric, 1) || ' s' END AS text,
       i.about AS tags
FROM incidents i
WHERE i.start_time < $__timeTo() AND (i.open OR i.end_time > $__timeFrom())
ORDER BY coalesce(i.lost_lo_s, -1) DESC, i.start_time DESC LIMIT 100
