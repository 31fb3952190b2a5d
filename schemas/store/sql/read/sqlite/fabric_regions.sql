-- Contended regions that touch the time from ?1 to ?2, open ones first, then the latest, with main cause and loss of the affected jobs.
SELECT r.region_id, r.metric, r.name, r.start_time, r.end_time, r.open, r.links, r.links_most, r.kind, r.kind_confidence,
       r.relief, r.cause, r.confidence, r.completeness,
       (SELECT c.series_or_job FROM region_causes c WHERE c.region_id = r.region_id ORDER BY c.position LIMIT 1),
       (SELECT s.series FROM region_series s WHERE s.region_id = r.region_id AND s.position = 0),
       (SELECT sum(v.lost_s) FROM region_victims v WHERE v.region_id = r.region_id), r.peak,
       (SELECT sum(v.lost_lo_s) FROM region_victims v WHERE v.region_id = r.region_id),
       (SELECT sum(v.lost_hi_s) FROM region_victims v WHERE v.region_id = r.region_id)
FROM regions r WHERE (?1 IS NULL OR r.end_time >= ?1 OR r.open) AND (?2 IS NULL OR r.start_time <= ?2)
ORDER BY r.open DESC, r.start_time DESC LIMIT ?3
