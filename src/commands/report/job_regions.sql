-- Regions that the job waits in, the largest loss first, and those of whose load it makes a part.
SELECT r.region_id, r.name, 1 AS waits, max(r.start_time, ?2), min(r.end_time, ?3), r.open, r.links_most, r.peak,
       v.lost_s, v.share, r.cause, r.kind, coalesce(c.series_or_job, ''), r.confidence, r.completeness
FROM region_victims v JOIN regions r USING (region_id)
LEFT JOIN region_causes c ON c.region_id = r.region_id AND c.position = 0
WHERE v.job_id = ?1
UNION ALL
SELECT r.region_id, r.name, 0, max(r.start_time, ?2), min(r.end_time, ?3), r.open, r.links_most, r.peak, NULL, c.share,
       c.cause, r.kind, c.series_or_job, c.confidence, r.completeness
FROM region_causes c JOIN regions r USING (region_id)
WHERE c.series_or_job = ?1 AND r.start_time < ?3 AND r.end_time > ?2
ORDER BY 3 DESC, 9 DESC, 10 DESC, 1
