-- Incidents: contended regions, and contention of file systems as the rules of alerts find it. What a region lost is the sum of its
-- affected jobs; what a file system lost is that of its worst client, `lost_by` says which. Of an open one the end is the latest time.
CREATE VIEW incidents AS
SELECT 'region' AS about, r.region_id::text AS incident, r.region_id, NULL::text AS mount, r.metric, r.name, r.start_time, r.end_time,
       r.open, r.links_most::bigint AS members, r.kind, r.cause,
       (SELECT c.series_or_job FROM region_causes c WHERE c.region_id = r.region_id ORDER BY c.position LIMIT 1) AS who,
       r.confidence, r.completeness, v.lost_s, v.lost_lo_s, v.lost_hi_s, 'jobs' AS lost_by
FROM regions r LEFT JOIN LATERAL (
    SELECT sum(w.lost_s) AS lost_s, sum(w.lost_lo_s) AS lost_lo_s, sum(w.lost_hi_s) AS lost_hi_s
    FROM region_victims w WHERE w.region_id = r.region_id
) v ON true
UNION ALL
SELECT 'storage', a.incident, NULL, a.n #>> '{labels,mount}', a.n #>> '{labels,metric}', a.subject, to_timestamp(a.started_s),
       coalesce(to_timestamp(a.resolved_s), least(coalesce((SELECT now FROM clock), to_timestamp(a.fired_s)), to_timestamp(a.valid_until_s))),
       a.state = 'firing' AND to_timestamp(a.valid_until_s) >= coalesce((SELECT now FROM clock), to_timestamp(a.fired_s)),
       (a.n ->> 'members')::bigint, 'unknown', CASE a.action WHEN 'throttle_io' THEN 'other_job' ELSE 'unknown' END,
       a.n #>> '{advice,causes,0}', (a.n #>> '{advice,confidence}')::double precision, (a.n ->> 'completeness')::double precision,
       (a.n ->> 'slowdown_s')::double precision, (a.n ->> 'slowdown_lo_s')::double precision, (a.n ->> 'slowdown_hi_s')::double precision,
       'worst_client'
FROM (SELECT i.*, i.notice::jsonb AS n FROM alert_incidents i) a WHERE a.n #>> '{labels,mount}' IS NOT NULL;
