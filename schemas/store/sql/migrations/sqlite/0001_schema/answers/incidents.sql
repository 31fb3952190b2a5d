-- Incidents: contended regions, and contention of file systems as the rules of alerts find it. What either lost is the sum of its
-- affected jobs; of a file system that no job used it is what its worst client lost: `lost_by` says which. A job loses to a file
-- system the mean of what its clients lost in the episodes of that time, in the part of each that its run has. The numbers of a notice
-- are older, and of the worst client: they count where the episodes are stored no longer. Of an open incident the end is the latest time.
CREATE VIEW incidents AS
WITH storage AS (
    SELECT a.incident, a.subject, a.notice, json_extract(a.notice, '$.labels.mount') AS mount,
           json_extract(a.notice, '$.labels.metric') AS metric, a.started_s AS start_time,
           coalesce(a.resolved_s, min(coalesce((SELECT now FROM clock), a.fired_s), a.valid_until_s)) AS end_time,
           a.state = 'firing' AND a.valid_until_s >= coalesce((SELECT now FROM clock), a.fired_s) AS open
    FROM alert_incidents a WHERE json_extract(a.notice, '$.labels.mount') IS NOT NULL
), ranked AS (
    SELECT a.incident, e.series_id, a.start_time, a.end_time, sum(e.slowdown_s) AS lost_s, sum(e.slowdown_lo_s) AS lost_lo_s,
           sum(e.slowdown_hi_s) AS lost_hi_s, min(e.completeness) AS completeness, count(*) OVER (PARTITION BY a.incident) AS clients,
           row_number() OVER (PARTITION BY a.incident ORDER BY sum(e.slowdown_lo_s) DESC, sum(e.slowdown_s) DESC, e.series_id) AS rank
    FROM storage a JOIN series s ON s.metric = a.metric AND s.part = a.mount
    JOIN episodes e ON e.series_id = s.series_id AND e.start_time <= a.end_time AND e.end_time >= a.start_time
    GROUP BY a.incident, e.series_id
), worst AS (
    SELECT r.*, (SELECT json_extract(e.causes, '$[0]') FROM episodes e
                 WHERE e.series_id = r.series_id AND e.start_time <= r.end_time AND e.end_time >= r.start_time
                 ORDER BY e.slowdown_s DESC, e.start_time LIMIT 1) AS first
    FROM ranked r WHERE r.rank = 1
), waits AS (
    SELECT a.incident, j.job_id, s.series_id, e.slowdown_s, e.slowdown_lo_s, e.slowdown_hi_s,
           CASE WHEN e.end_time > e.start_time
                THEN (min(e.end_time, coalesce(j.end_time, e.end_time)) - max(e.start_time, j.start_time)) / (e.end_time - e.start_time)
                ELSE 1.0 END AS share
    FROM storage a JOIN jobs j ON j.start_time <= a.end_time AND (j.end_time IS NULL OR j.end_time >= a.start_time)
    JOIN job_series u USING (job_id) JOIN series s ON s.series_id = u.series_id AND s.metric = a.metric AND s.part = a.mount
    LEFT JOIN episodes e ON e.series_id = s.series_id AND e.start_time <= min(a.end_time, coalesce(j.end_time, a.end_time))
                        AND e.end_time >= max(a.start_time, j.start_time)
), victims AS (
    SELECT incident, sum(lost_s) AS lost_s, sum(lost_lo_s) AS lost_lo_s, sum(lost_hi_s) AS lost_hi_s FROM (
        SELECT incident, job_id, sum(slowdown_s * share) / count(DISTINCT series_id) AS lost_s,
               sum(slowdown_lo_s * share) / count(DISTINCT series_id) AS lost_lo_s,
               sum(slowdown_hi_s * share) / count(DISTINCT series_id) AS lost_hi_s
        FROM waits GROUP BY incident, job_id
    ) GROUP BY incident
)
SELECT 'region' AS about, CAST(r.region_id AS TEXT) AS incident, r.region_id, NULL AS mount, r.metric, r.name, r.start_time,
       r.end_time, r.open, r.links_most AS members, r.kind, r.cause,
       (SELECT c.series_or_job FROM region_causes c WHERE c.region_id = r.region_id ORDER BY c.position LIMIT 1) AS who,
       r.confidence, r.completeness, v.lost_s, v.lost_lo_s, v.lost_hi_s, 'jobs' AS lost_by
FROM regions r LEFT JOIN (
    SELECT region_id, sum(lost_s) AS lost_s, sum(lost_lo_s) AS lost_lo_s, sum(lost_hi_s) AS lost_hi_s
    FROM region_victims GROUP BY region_id
) v USING (region_id)
UNION ALL
SELECT 'storage', a.incident, NULL, a.mount, a.metric, a.subject, a.start_time, a.end_time, a.open,
       coalesce(l.clients, json_extract(a.notice, '$.members')), coalesce(json_extract(l.first, '$.kind'), 'unknown'),
       coalesce(json_extract(l.first, '$.cause'), 'unknown'), nullif(json_extract(l.first, '$.series_or_job'), ''),
       coalesce(json_extract(l.first, '$.share'), 0.0), coalesce(l.completeness, json_extract(a.notice, '$.completeness')),
       coalesce(v.lost_s, l.lost_s, json_extract(a.notice, '$.slowdown_s')),
       coalesce(v.lost_lo_s, l.lost_lo_s, json_extract(a.notice, '$.slowdown_lo_s')),
       coalesce(v.lost_hi_s, l.lost_hi_s, json_extract(a.notice, '$.slowdown_hi_s')), iif(v.lost_s IS NULL, 'worst_client', 'jobs')
FROM storage a LEFT JOIN worst l USING (incident) LEFT JOIN victims v USING (incident);
