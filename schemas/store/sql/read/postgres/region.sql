-- One contended region, with the columns of `fabric_regions.sql`.
SELECT r.region_id, r.metric, r.name, extract(epoch FROM r.start_time)::double precision,
       extract(epoch FROM r.end_time)::double precision, r.open, r.links::bigint, r.links_most::bigint, r.kind,
       r.kind_confidence, r.relief, r.cause, r.confidence, r.completeness,
       (SELECT c.series_or_job FROM region_causes c WHERE c.region_id = r.region_id ORDER BY c.position LIMIT 1),
       (SELECT s.series FROM region_series s WHERE s.region_id = r.region_id AND s.position = 0 LIMIT 1),
       (SELECT sum(v.lost_s) FROM region_victims v WHERE v.region_id = r.region_id), r.peak,
       (SELECT sum(v.lost_lo_s) FROM region_victims v WHERE v.region_id = r.region_id),
       (SELECT sum(v.lost_hi_s) FROM region_victims v WHERE v.region_id = r.region_id)
FROM regions r WHERE r.region_id = $1::bigint
