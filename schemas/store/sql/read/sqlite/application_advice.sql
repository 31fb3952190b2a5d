-- What is known of the application ?1 before a job of it is placed: from its latest 100 finished runs, those of the user ?2 unless that
-- is null, and of now; the rows of `application_advice` in PostgreSQL. It names applications, never jobs or users. Fewer than three judged
-- runs show nothing: the loss is null, and nothing is advised. A run is judged if half of its time had a quiet baseline. It suffers from
-- 2% of its run time on, at least 1% on what the advice is about.
-- SQLite limits the number of sources with all repetitions of a WITH clause: few of them, and what all need is in `runs`.
WITH runs AS MATERIALIZED (
    SELECT k.*, count(*) FILTER (WHERE k.judged) OVER () >= 3 AS enough,
           k.judged AND count(*) FILTER (WHERE k.judged) OVER () >= 3 AS counted,
           sum(k.run_s) FILTER (WHERE k.judged) OVER () AS judged_s, count(*) OVER () AS known,
           row_number() OVER (PARTITION BY k.judged ORDER BY k.share) AS place,
           row_number() OVER (PARTITION BY k.judged ORDER BY k.share_lo) AS place_lo,
           row_number() OVER (PARTITION BY k.judged ORDER BY k.share_hi) AS place_hi,
           (count(*) OVER (PARTITION BY k.judged) + 1) / 2 AS middle, (count(*) OVER (PARTITION BY k.judged) + 2) / 2 AS next
    FROM (
        SELECT j.job_id, j.start_time, j.end_time, j.end_time - j.start_time AS run_s, r.slowdown_s / (j.end_time - j.start_time) AS share,
               r.slowdown_lo_s / (j.end_time - j.start_time) AS share_lo, r.slowdown_hi_s / (j.end_time - j.start_time) AS share_hi,
               coalesce(r.judged >= 0.5, 0) AS judged
        FROM jobs j LEFT JOIN job_results r USING (job_id)
        WHERE j.application = ?1 AND (?2 IS NULL OR j.user_name = ?2) AND j.end_time > j.start_time
          AND j.end_time <= (SELECT now FROM clock) AND NOT j.end_presumed
        ORDER BY j.start_time DESC, j.job_id LIMIT 100
    ) k
), totals AS MATERIALIZED (
    SELECT count(*) AS runs, count(*) FILTER (WHERE judged) AS judged, count(*) FILTER (WHERE judged) >= 3 AS enough,
           min(start_time) AS first, max(start_time) AS latest, avg(share) FILTER (WHERE judged AND place IN (middle, next)) AS share,
           avg(share_lo) FILTER (WHERE judged AND place_lo IN (middle, next)) AS share_lo,
           avg(share_hi) FILTER (WHERE judged AND place_hi IN (middle, next)) AS share_hi
    FROM runs
), clients AS MATERIALIZED (
    -- At most 16 clients of a file system a run, spread over its nodes: a run has thousands of them, and loses their mean.
    SELECT c.job_id, c.metric, c.part, c.series_id FROM (
        SELECT u.job_id, s.metric, s.part, s.series_id, count(*) OVER (PARTITION BY u.job_id, s.metric, s.part) AS clients,
               row_number() OVER (PARTITION BY u.job_id, s.metric, s.part ORDER BY s.name) - 1 AS place
        FROM (SELECT job_id FROM runs WHERE counted ORDER BY start_time DESC, job_id LIMIT 20) u JOIN job_series js USING (job_id) JOIN series s USING (series_id)
        JOIN metrics m ON m.metric = s.metric
        WHERE m.resource IS NOT NULL AND s.part IS NOT NULL
    ) c WHERE c.place % ((c.clients + 15) / 16) = 0
), on_mounts AS MATERIALIZED (
    -- Hardly an episode lasts for more than a day: without this bound all earlier ones of a client would be read.
    SELECT o.job_id, o.metric, o.part, count(DISTINCT o.series_id) AS clients, coalesce(sum(o.slowdown_s * o.share), 0.0) AS lost_s,
           coalesce(sum(o.slowdown_lo_s * o.share), 0.0) AS lost_lo_s, coalesce(sum(o.slowdown_hi_s * o.share), 0.0) AS lost_hi_s
    FROM (
        SELECT c.*, e.slowdown_s, e.slowdown_lo_s, e.slowdown_hi_s,
               CASE WHEN e.end_time > e.start_time
                    THEN (min(e.end_time, u.end_time) - max(e.start_time, u.start_time)) / (e.end_time - e.start_time) ELSE 1.0 END AS share
        FROM clients c JOIN runs u USING (job_id)
        LEFT JOIN episodes e ON e.series_id = c.series_id AND e.start_time < u.end_time AND e.end_time > u.start_time
                            AND e.start_time > u.start_time - 86400.0
    ) o GROUP BY 1, 2, 3
), mounts AS MATERIALIZED (
    SELECT o.part AS name, o.metric, count(*) AS runs, sum(o.lost_s / o.clients) / sum(u.run_s) AS share,
           sum(o.lost_lo_s / o.clients) / sum(u.run_s) AS share_lo, sum(o.lost_hi_s / o.clients) / sum(u.run_s) AS share_hi
    FROM on_mounts o JOIN runs u USING (job_id)
    GROUP BY 1, 2 HAVING sum(o.lost_s) > 0
    ORDER BY share_lo DESC, share DESC, 1, 2 LIMIT 5
), links AS MATERIALIZED (
    SELECT r.name, count(DISTINCT v.job_id) AS runs, sum(v.lost_s) / u.judged_s AS share, sum(v.lost_lo_s) / u.judged_s AS share_lo,
           sum(v.lost_hi_s) / u.judged_s AS share_hi
    FROM runs u JOIN region_victims v USING (job_id) JOIN regions r USING (region_id)
    WHERE u.counted GROUP BY r.name, u.judged_s HAVING sum(v.lost_s) > 0
    ORDER BY share_lo DESC, share DESC, 1 LIMIT 5
), aggressors AS MATERIALIZED (
    SELECT a.application AS name, count(DISTINCT b.victim) AS runs, sum(b.lost_s) / u.judged_s AS share,
           sum(b.lost_lo_s) / u.judged_s AS share_lo, sum(b.lost_hi_s) / u.judged_s AS share_hi
    FROM runs u JOIN blame b ON b.victim = u.job_id JOIN jobs a ON a.job_id = b.aggressor
    WHERE u.counted GROUP BY a.application, u.judged_s
    ORDER BY share_lo DESC, share DESC, 1 LIMIT 5
), victims AS MATERIALIZED (
    SELECT v.application AS name, count(DISTINCT b.victim) AS jobs, sum(b.lost_node_hours) / u.known AS cost,
           sum(b.lost_lo_node_hours) / u.known AS cost_lo, sum(b.lost_hi_node_hours) / u.known AS cost_hi
    FROM runs u JOIN blame b ON b.aggressor = u.job_id JOIN jobs v ON v.job_id = b.victim
    WHERE u.enough GROUP BY v.application, u.known
    ORDER BY cost_lo DESC, cost DESC, 1 LIMIT 5
), placed AS MATERIALIZED (SELECT p.node, p.switch, p.group_name FROM node_places p),
spans AS MATERIALIZED (
    SELECT f.job_id, f.configuration, f.placement, f.placement_lo, f.placement_hi, count(DISTINCT p.group_name) AS groups
    FROM (SELECT o.* FROM runs u JOIN job_factors o USING (job_id) WHERE u.counted AND o.placement IS NOT NULL
          ORDER BY u.start_time DESC, o.job_id LIMIT 20) f
    JOIN job_nodes n USING (job_id) JOIN placed p USING (node)
    WHERE p.group_name IS NOT NULL GROUP BY 1, 2, 3, 4, 5
), placements AS MATERIALIZED (
    SELECT s.configuration, s.groups, count(*) AS runs, avg(s.placement) AS ratio, avg(s.placement_lo) AS ratio_lo,
           avg(s.placement_hi) AS ratio_hi
    FROM spans s GROUP BY 1, 2 ORDER BY ratio, runs DESC, 1, 2 LIMIT 5
), running AS MATERIALIZED (
    SELECT a.name, j.job_id FROM aggressors a JOIN jobs j ON j.application = a.name
    WHERE j.start_time <= (SELECT now FROM clock) AND (j.end_time IS NULL OR j.end_time > (SELECT now FROM clock))
), running_in AS MATERIALIZED (
    SELECT r.name, p.group_name, row_number() OVER (PARTITION BY r.name ORDER BY count(DISTINCT n.node) DESC, p.group_name) AS place
    FROM running r JOIN job_nodes n USING (job_id) JOIN placed p USING (node)
    WHERE p.group_name IS NOT NULL GROUP BY 1, 2
), running_apps AS MATERIALIZED (
    SELECT r.name, count(*) AS jobs, (SELECT group_concat(i.group_name, ', ' ORDER BY i.place) FROM running_in i
                                      WHERE i.name = r.name AND i.place <= 8) AS groups
    FROM running r GROUP BY r.name
), mounts_now AS MATERIALIZED (
    SELECT s.part AS name, count(DISTINCT s.component) AS clients, min(e.start_time) AS since
    FROM episodes e JOIN series s USING (series_id) JOIN metrics m ON m.metric = s.metric
    WHERE e.open = 1 AND m.resource IS NOT NULL AND s.part IN (SELECT o.name FROM mounts o) GROUP BY 1
), links_now AS MATERIALIZED (
    SELECT r.name, sum(r.links) AS links, min(r.start_time) AS since
    FROM regions r WHERE r.open = 1 AND r.name IN (SELECT l.name FROM links l) GROUP BY 1
), contended_links AS MATERIALIZED (
    SELECT DISTINCT s.name, s.component FROM regions r JOIN region_series m USING (region_id) JOIN series s ON s.name = m.series
    WHERE r.open = 1 AND m.position IS NOT NULL
), contended_at AS MATERIALIZED (
    SELECT l.name, coalesce(w.switch, n.switch, l.component) AS switch, coalesce(w.group_name, n.group_name) AS group_name
    FROM contended_links l
    LEFT JOIN (SELECT p.switch, min(p.group_name) AS group_name FROM placed p WHERE p.switch IS NOT NULL GROUP BY 1) w
           ON w.switch = l.component
    LEFT JOIN (SELECT p.node, min(p.switch) AS switch, min(p.group_name) AS group_name FROM placed p GROUP BY 1) n ON n.node = l.component
), answer AS (
    SELECT 1 AS part, 'runs' AS topic, 'known' AS name, CAST(t.runs AS REAL) AS figure, NULL AS figure_lo, NULL AS figure_hi, 'runs' AS unit,
           CASE WHEN t.runs > 0 THEN 'started from ' || strftime('%Y-%m-%d %H:%M:%S UTC', t.first, 'unixepoch')
                                     || ' to ' || strftime('%Y-%m-%d %H:%M:%S UTC', t.latest, 'unixepoch')
                ELSE 'no finished run is stored' END AS detail, 0.0 AS rank
    FROM totals t
    UNION ALL
    SELECT 2, 'runs', 'judged', CAST(t.judged AS REAL), NULL, NULL, 'runs', (t.runs - t.judged) || ' not judged, and not counted', 0 FROM totals t
    UNION ALL
    SELECT 3, 'lost', 'median', CASE WHEN t.enough THEN t.share END, CASE WHEN t.enough THEN t.share_lo END,
           CASE WHEN t.enough THEN t.share_hi END, 'share of run time',
           CASE WHEN t.enough THEN 'of ' || t.judged || ' runs' ELSE 'unknown: ' || t.judged || ' of at least 3 runs were judged' END, 0
    FROM totals t
    UNION ALL
    SELECT 4, 'suffers on file system', m.name, m.share, m.share_lo, m.share_hi, 'share of run time',
           m.metric || ', in ' || m.runs || ' runs', -m.share_lo
    FROM mounts m
    UNION ALL
    SELECT 5, 'suffers on links', l.name, l.share, l.share_lo, l.share_hi, 'share of run time', 'in ' || l.runs || ' runs', -l.share_lo
    FROM links l
    UNION ALL
    SELECT 6, 'loses to', a.name, a.share, a.share_lo, a.share_hi, 'share of run time', 'in ' || a.runs || ' runs', -a.share_lo
    FROM aggressors a
    UNION ALL
    SELECT 7, 'costs', v.name, v.cost, v.cost_lo, v.cost_hi, 'node-hours a run', v.jobs || ' of its jobs', -v.cost_lo FROM victims v
    UNION ALL
    SELECT 8, 'placement', p.groups || ' groups', p.ratio, p.ratio_lo, p.ratio_hi, 'times the fastest run time',
           p.configuration || ', ' || p.runs || ' runs', p.ratio
    FROM placements p
    UNION ALL
    SELECT 9, 'runs now', r.name, CAST(r.jobs AS REAL), NULL, NULL, 'jobs', coalesce('groups: ' || r.groups, 'its groups are not known'), -r.jobs
    FROM running_apps r
    UNION ALL
    SELECT 10, 'contended now', m.name, CAST(m.clients AS REAL), NULL, NULL, 'clients',
           'file system, since ' || strftime('%Y-%m-%d %H:%M:%S UTC', m.since, 'unixepoch'), -m.clients
    FROM mounts_now m
    UNION ALL
    SELECT 11, 'contended now', l.name, CAST(l.links AS REAL), NULL, NULL, 'links',
           'links, since ' || strftime('%Y-%m-%d %H:%M:%S UTC', l.since, 'unixepoch'), -l.links
    FROM links_now l
    UNION ALL
    SELECT * FROM (
        SELECT 12, 'avoid group', c.group_name, CAST(count(*) AS REAL), NULL, NULL, 'contended links', count(DISTINCT c.switch) || ' switches',
               -count(*)
        FROM contended_at c WHERE c.group_name IS NOT NULL GROUP BY c.group_name ORDER BY count(*) DESC, c.group_name LIMIT 10)
    UNION ALL
    SELECT * FROM (
        SELECT 13, 'avoid switch', c.switch, CAST(count(*) AS REAL), NULL, NULL, 'contended links',
               coalesce('group ' || min(c.group_name), 'its group is not known'), -count(*)
        FROM contended_at c GROUP BY c.switch ORDER BY count(*) DESC, c.switch LIMIT 20)
    UNION ALL
    SELECT 14, 'advice', 'Tailback', NULL, NULL, NULL, NULL, a.value ->> 1, a.value ->> 0
    FROM totals t JOIN json_each(json_array(
        json_array(1, 'It lost less than 2% of its run time: no placement is advised.', t.share_hi < 0.02),
        json_array(2, 'Applications to which it loses run now: keep away from their groups, or start it later.',
                   t.share_lo >= 0.02 AND (SELECT sum(g.share_lo) FROM aggressors g JOIN running_apps r USING (name)) >= 0.01),
        json_array(3, 'A file system on which it suffers is contended now: start it later, or use another one.',
                   t.share_lo >= 0.02 AND (SELECT sum(m.share_lo) FROM mounts m JOIN mounts_now n USING (name)) >= 0.01),
        json_array(4, 'It loses on links: place it on few switches, away from contended ones.',
                   t.share_lo >= 0.02 AND (SELECT sum(l.share_lo) FROM links l) >= 0.01)
    )) a
    WHERE t.enough AND a.value ->> 2
)
SELECT a.topic, a.name, a.figure, a.figure_lo, a.figure_hi, a.unit, a.detail FROM answer a ORDER BY a.part, a.rank, a.name, a.detail
