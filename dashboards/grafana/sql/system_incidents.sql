-- Contended regions of the span, open ones first.
SELECT r.start_time AS from_time, r.end_time AS until_time, CASE WHEN r.open THEN 'open' ELSE 'ended' END AS state,
       r.name, r.metric, r.links_most AS links, r.kind, r.cause, c.series_or_job AS who, coalesce(c.confidence, r.confidence) AS confidence,
       v.lost_s, v.lost_lo_s, v.lost_hi_s, v.victims, r.region_id AS region
FROM regions r LEFT JOIN region_causes c ON c.region_id = r.region_id AND c.position = 0
LEFT JOIN LATERAL (
    SELECT sum(v.lost_s) AS lost_s, sum(v.lost_lo_s) AS lost_lo_s, sum(v.lost_hi_s) AS lost_hi_s, count(*) AS victims
    FROM region_victims v WHERE v.region_id = r.region_id
) v ON true
WHERE r.start_time < $__timeTo() AND (r.open OR r.end_time > $__timeFrom())
ORDER BY r.open DESC, r.start_time DESC LIMIT 200
