-- The region of the series at that time; it may have left it since.
SELECT r.region_id, r.name, r.links_most, r.cause, r.kind, r.confidence
FROM region_series m JOIN regions r USING (region_id)
WHERE m.series = ?1 AND r.start_time < ?3 AND r.end_time > ?2
ORDER BY r.start_time LIMIT 1
