-- What running jobs wait for now, at most ?1 rows: open regions that they lose time in, file systems with contended clients of theirs, and
-- switches or hosts with contended links of theirs that are in no such region. A file system's loss is that of the worst client; the loss on
-- links without a region is not known by job.
WITH running AS MATERIALIZED (
    SELECT j.job_id, j.start_time FROM jobs j WHERE j.end_time IS NULL OR j.end_time > (SELECT now FROM clock)
), waits AS (
    SELECT e.job_id, iif(m.resource IS NULL, 'links', 'file_system') AS about,
           iif(m.resource IS NULL, s.component, coalesce(s.part, '')) AS name, s.name AS series, s.metric, e.from_time AS since,
           e.lost_s, e.lost_lo_s, e.lost_hi_s, json_extract(o.causes, '$[0].cause') AS cause,
           json_extract(o.causes, '$[0].kind') AS kind
    FROM running u JOIN job_episodes e USING (job_id) JOIN episodes o ON o.id = e.id JOIN series s ON s.series_id = e.series_id
    JOIN metrics m ON m.metric = s.metric
    WHERE e.open
), grouped AS (
    SELECT w.*, min(w.since) OVER resource AS first, count(*) OVER resource AS members,
           row_number() OVER (PARTITION BY w.job_id, w.about, w.name, w.metric ORDER BY w.lost_lo_s DESC, w.series) AS place
    FROM waits w
    WHERE w.about = 'file_system'
       OR NOT EXISTS (SELECT 1 FROM region_series l JOIN regions r USING (region_id) JOIN region_victims v USING (region_id)
                      WHERE l.series = w.series AND l.position IS NOT NULL AND r.open AND v.job_id = w.job_id)
    WINDOW resource AS (PARTITION BY w.job_id, w.about, w.name, w.metric)
)
SELECT v.job_id, 'region' AS about, r.name, r.metric, max(r.start_time, u.start_time) AS since, r.links AS members, v.lost_s,
       v.lost_lo_s AS lost_lo_s, v.lost_hi_s, r.cause, r.kind
FROM regions r JOIN region_victims v USING (region_id) JOIN running u USING (job_id) WHERE r.open
UNION ALL
SELECT g.job_id, g.about, g.name, g.metric, g.first, g.members, iif(g.about = 'links', NULL, g.lost_s),
       iif(g.about = 'links', NULL, g.lost_lo_s), iif(g.about = 'links', NULL, g.lost_hi_s), g.cause, g.kind
FROM grouped g WHERE g.place = 1
ORDER BY 1, lost_lo_s DESC NULLS LAST, since, 3, 4
LIMIT ?1
