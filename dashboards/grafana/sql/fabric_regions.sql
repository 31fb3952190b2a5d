-- Contended regions of the span, the largest first among open ones.
SELECT r.region_id AS region, r.name, r.start_time AS from_time, r.end_time AS until_time,
       CASE WHEN r.open THEN 'open' ELSE 'ended' END AS state, r.links, r.links_most, r.peak, r.kind, r.kind_confidence, r.relief,
       r.cause, r.confidence
FROM regions r WHERE r.start_time < $__timeTo() AND (r.open OR r.end_time > $__timeFrom())
ORDER BY r.open DESC, r.links_most DESC, r.start_time DESC LIMIT 100
