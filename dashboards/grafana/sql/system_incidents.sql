-- Contended regions of the span, open ones first.
SELECT r.start_time AS from_time, r.end_time AS until_time, CASE WHEN r.open THEN 'open' ELSE 'ended' END AS state,
       r.name, r.metric, r.links_most AS links, r.kind, r.cause, c.series_or_job AS who, r.confidence,
       (SELECT sum(v.lost_s) FROM region_victims v WHERE v.region_id = r.region_id) AS lost_s,
       (SELECT count(*) FROM region_victims v WHERE v.region_id = r.region_id) AS victims, r.region_id AS region
FROM regions r LEFT JOIN region_causes c ON c.region_id = r.region_id AND c.position = 0
WHERE r.start_time < $__timeTo() AND (r.open OR r.end_time > $__timeFrom())
ORDER BY r.open DESC, r.start_time DESC LIMIT 200
