-- Incidents of the span, open ones first, then by the lower end of the loss.
SELECT i.start_time AS from_time, i.end_time AS until_time, CASE WHEN i.open THEN 'open' ELSE 'ended' END AS state,
       i.name, i.metric, i.members AS links, i.kind, i.cause, i.who, i.confidence,
       i.lost_s, i.lost_lo_s, i.lost_hi_s, v.victims, i.region_id AS region
FROM incidents i
LEFT JOIN LATERAL (SELECT count(*) AS victims FROM region_victims v WHERE v.region_id = i.region_id HAVING i.region_id IS NOT NULL) v ON true
WHERE i.start_time < $__timeTo() AND (i.open OR i.end_time > $__timeFrom())
ORDER BY i.open DESC, coalesce(i.lost_lo_s, -1) DESC, i.start_time DESC LIMIT 200
