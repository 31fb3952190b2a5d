-- Incidents: contended regions, and contention of file systems as the rules of alerts find it. What a region lost is the sum of its
-- affected jobs; what a file system lost is that of its worst client, `lost_by` says which. Of an open one the end is the latest time.
CREATE VIEW incidents AS
SELECT 'region' AS about, CAST(r.region_id AS TEXT) AS incident, r.region_id, NULL AS mount, r.metric, r.name, r.start_time,
       r.end_time, r.open, r.links_most AS members, r.kind, r.cause,
       (SELECT c.series_or_job FROM region_causes c WHERE c.region_id = r.region_id ORDER BY c.position LIMIT 1) AS who,
       r.confidence, r.completeness, v.lost_s, v.lost_lo_s, v.lost_hi_s, 'jobs' AS lost_by
FROM regions r LEFT JOIN (
    SELECT region_id, sum(lost_s) AS lost_s, sum(lost_lo_s) AS lost_lo_s, sum(lost_hi_s) AS lost_hi_s
    FROM region_victims GROUP BY region_id
) v USING (region_id)
UNION ALL
SELECT 'storage', a.incident, NULL, json_extract(a.notice, '$.labels.mount'), json_extract(a.notice, '$.labels.metric'), a.subject,
       a.started_s, coalesce(a.resolved_s, min(coalesce((SELECT now FROM clock), a.fired_s), a.valid_until_s)),
       a.state = 'firing' AND a.valid_until_s >= coalesce((SELECT now FROM clock), a.fired_s),
       json_extract(a.notice, '$.members'), 'unknown', CASE a.action WHEN 'throttle_io' THEN 'other_job' ELSE 'unknown' END,
       json_extract(a.notice, '$.advice.causes[0]'), json_extract(a.notice, '$.advice.confidence'),
       json_extract(a.notice, '$.completeness'), json_extract(a.notice, '$.slowdown_s'), json_extract(a.notice, '$.slowdown_lo_s'),
       json_extract(a.notice, '$.slowdown_hi_s'), 'worst_client'
FROM alert_incidents a WHERE json_extract(a.notice, '$.labels.mount') IS NOT NULL;
