-- What running jobs wait for now, at most $1 rows: open regions that they lose time in, file systems with contended clients of theirs, and
-- switches or hosts with contended links of theirs that are in no such region. A file system's loss is that of the worst client; the loss on
-- links without a region is not known by job. Losses are cut to the run as in `job_episodes`, which would look at all episodes of a run.
WITH running AS MATERIALIZED (
    SELECT j.job_id, j.start_time FROM jobs j WHERE j.end_time IS NULL OR j.end_time > (SELECT now FROM clock)
), ongoing AS MATERIALIZED (
    SELECT e.series_id, e.start_time, e.slowdown_s, e.slowdown_lo_s, e.slowdown_hi_s, e.profile, e.causes->0->>'cause' AS cause,
           e.causes->0->>'kind' AS kind
    FROM episodes e WHERE e.open
), waits AS (
    SELECT u.job_id, CASE WHEN m.resource IS NULL THEN 'links' ELSE 'file_system' END AS about,
           CASE WHEN m.resource IS NULL THEN s.component ELSE coalesce(s.part, '') END AS name, s.name AS series, s.metric,
           greatest(e.start_time, u.start_time) AS since, c.share * e.slowdown_s AS lost_s, c.share * e.slowdown_lo_s AS lost_lo_s,
           c.share * e.slowdown_hi_s AS lost_hi_s, e.cause, e.kind
    FROM running u CROSS JOIN LATERAL (
        -- A seek for each running job: a contended series was used by all jobs of months.
        SELECT j.series_id FROM job_series j WHERE j.job_id = u.job_id OFFSET 0
    ) js JOIN ongoing e USING (series_id) JOIN series s USING (series_id)
    JOIN metrics m ON m.metric = s.metric
    CROSS JOIN LATERAL (
        SELECT CASE WHEN e.start_time >= u.start_time THEN 1 WHEN e.slowdown_s > 0
                    THEN (e.slowdown_s - episode_loss_until(e.start_time, e.profile, e.slowdown_s, u.start_time)) / e.slowdown_s
                    ELSE 0 END AS share
    ) c
), grouped AS (
    SELECT w.*, min(w.since) OVER resource AS first, count(*) OVER resource AS members,
           row_number() OVER (PARTITION BY w.job_id, w.about, w.name, w.metric
                              ORDER BY w.lost_lo_s DESC, w.series COLLATE "C") AS place
    FROM waits w
    WHERE w.about = 'file_system'
       OR NOT EXISTS (SELECT FROM region_series l JOIN regions r USING (region_id) JOIN region_victims v USING (region_id)
                      WHERE l.series = w.series AND l.position IS NOT NULL AND r.open AND v.job_id = w.job_id)
    WINDOW resource AS (PARTITION BY w.job_id, w.about, w.name, w.metric)
)
SELECT a.job_id, a.about, a.name, a.metric, extract(epoch FROM a.since)::double precision, a.members, a.lost_s, a.lost_lo_s,
       a.lost_hi_s, a.cause, a.kind
FROM (
    SELECT v.job_id, 'region' AS about, r.name, r.metric, greatest(r.start_time, u.start_time) AS since, r.links::bigint AS members,
           v.lost_s, v.lost_lo_s, v.lost_hi_s, r.cause, r.kind
    FROM regions r JOIN region_victims v USING (region_id) JOIN running u USING (job_id) WHERE r.open
    UNION ALL
    SELECT g.job_id, g.about, g.name, g.metric, g.first, g.members, CASE WHEN g.about <> 'links' THEN g.lost_s END,
           CASE WHEN g.about <> 'links' THEN g.lost_lo_s END, CASE WHEN g.about <> 'links' THEN g.lost_hi_s END, g.cause, g.kind
    FROM grouped g WHERE g.place = 1
) a
ORDER BY a.job_id COLLATE "C", a.lost_lo_s DESC NULLS LAST, a.since, a.name COLLATE "C", a.metric COLLATE "C"
LIMIT $1::bigint
