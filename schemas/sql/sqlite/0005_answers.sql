-- Answers under the names that they have in PostgreSQL; SQLite has no functions, so the job is a column here:
-- SELECT * FROM job_post_mortem WHERE job_id = '1234'.

DROP VIEW job_slowdown;
CREATE VIEW job_slowdown AS
SELECT u.job_id, u.user_name, u.name, u.start_time, u.end_time,
       r.contended_s, r.slowdown_s, r.slowdown_lo_s, r.slowdown_hi_s, r.completeness,
       u.label, u.end_presumed, u.until_time - u.start_time AS run_s,
       100 * r.slowdown_s / nullif(u.until_time - u.start_time, 0) AS slowdown_percent,
       f.configuration, f.self_s, f.other_s, f.placement, f.beta, f.caveat,
       (SELECT count(*) FROM job_nodes n WHERE n.job_id = u.job_id) AS nodes,
       (SELECT count(*) FROM region_victims v WHERE v.job_id = u.job_id) AS regions,
       r.judged
FROM (SELECT j.*, coalesce(j.end_time, max(coalesce((SELECT now FROM clock), 0), j.start_time)) AS until_time FROM jobs j) u
LEFT JOIN job_results r USING (job_id) LEFT JOIN job_factors f USING (job_id);

CREATE VIEW job_runs AS
SELECT j.job_id, j.start_time, coalesce(j.end_time, max(coalesce((SELECT now FROM clock), 0), j.start_time)) AS until_time
FROM jobs j;

-- The group of an Aries router is told by its name: two cabinets of a row. CAST reads the number that a text begins with.
CREATE VIEW node_places AS
SELECT node, switch, nullif(group_name, '') AS group_name FROM node_switches
UNION
SELECT c.producer, c.component, printf('c%d-%d..c%d-%d', c.x - c.x % 2, c.y, c.x - c.x % 2 + 1, c.y)
FROM (SELECT p.producer, p.component, CAST(substr(p.component, 2) AS INTEGER) AS x,
             CAST(substr(p.component, instr(p.component, '-') + 1) AS INTEGER) AS y
      FROM producers p
      WHERE p.component <> p.producer AND p.component GLOB 'c[0-9]*-[0-9]*c[0-9]*s[0-9]*') c
WHERE NOT EXISTS (SELECT 1 FROM node_switches n WHERE n.node = c.producer);

-- Contended stretches of a job's series during its run, and what of their loss falls into it: where an episode crosses an
-- edge of the run, by linear interpolation of its profile.
CREATE VIEW job_episodes AS
SELECT w.job_id, w.id, w.series_id, w.from_time, w.until_time, w.open, w.peak, w.baseline,
       w.part * w.slowdown_s AS lost_s, w.part * w.slowdown_lo_s AS lost_lo_s, w.part * w.slowdown_hi_s AS lost_hi_s,
       w.completeness
FROM (
    SELECT r.job_id, e.*, max(e.start_time, r.start_time) AS from_time, min(e.end_time, r.until_time) AS until_time,
           CASE WHEN e.start_time >= r.start_time AND e.end_time <= r.until_time THEN 1.0
                WHEN e.slowdown_s <= 0 THEN 0.0
                ELSE (coalesce((SELECT p.lost FROM (
                          SELECT q.time_s,
                                 lag(q.lost_s, 1, 0.0) OVER w1 + (q.lost_s - lag(q.lost_s, 1, 0.0) OVER w1)
                                 * max(min((r.until_time - lag(q.time_s, 1, e.start_time) OVER w1)
                                       / max(q.time_s - lag(q.time_s, 1, e.start_time) OVER w1, 1e-9), 1.0), 0.0) AS lost
                          FROM (SELECT json_extract(value, '$[0]') AS time_s, json_extract(value, '$[1]') AS lost_s
                                FROM json_each(e.profile)) q
                          WINDOW w1 AS (ORDER BY q.time_s)
                      ) p WHERE p.time_s >= r.until_time ORDER BY p.time_s LIMIT 1), e.slowdown_s)
                      - coalesce((SELECT p.lost FROM (
                          SELECT q.time_s,
                                 lag(q.lost_s, 1, 0.0) OVER w1 + (q.lost_s - lag(q.lost_s, 1, 0.0) OVER w1)
                                 * max(min((r.start_time - lag(q.time_s, 1, e.start_time) OVER w1)
                                       / max(q.time_s - lag(q.time_s, 1, e.start_time) OVER w1, 1e-9), 1.0), 0.0) AS lost
                          FROM (SELECT json_extract(value, '$[0]') AS time_s, json_extract(value, '$[1]') AS lost_s
                                FROM json_each(e.profile)) q
                          WINDOW w1 AS (ORDER BY q.time_s)
                      ) p WHERE p.time_s >= r.start_time ORDER BY p.time_s LIMIT 1), e.slowdown_s)) / e.slowdown_s END AS part
    FROM job_runs r JOIN job_series js USING (job_id) JOIN episodes e USING (series_id)
    WHERE e.start_time < r.until_time AND e.end_time > r.start_time
) w;

-- One row a fact, as in PostgreSQL; every resource has its row.
CREATE VIEW job_post_mortem AS
SELECT f.job_id, f.fact, f.resource, f.from_time, f.until_time, f.lost_s, f.lost_lo_s, f.lost_hi_s,
       100 * f.lost_s / nullif(r.until_time - r.start_time, 0) AS percent_of_run, f.share, f.cause, f.kind, f.who,
       f.confidence, f.completeness, f.note
FROM (
    SELECT s.job_id, 1 AS part, 'job' AS fact, s.nodes || ' nodes' AS resource, s.start_time AS from_time,
           s.start_time + s.run_s AS until_time, s.slowdown_s AS lost_s, s.slowdown_lo_s AS lost_lo_s,
           s.slowdown_hi_s AS lost_hi_s, NULL AS share, NULL AS cause, NULL AS kind, s.user_name AS who, NULL AS confidence,
           s.completeness,
           trim(s.name || coalesce('; configuration ' || s.configuration, '')
                || CASE WHEN s.end_time IS NULL THEN '; no end is known: it still runs, or its end never arrived'
                        WHEN s.end_presumed THEN '; nobody told of its end' ELSE '' END
                || CASE WHEN coalesce(s.completeness, 0) = 0
                        THEN '; nothing was measured: whether it lost time is not known'
                        WHEN s.completeness - s.judged > 0.005
                        THEN printf('; not judged: %.0f%% of its time, %s', 100 * (s.completeness - s.judged),
                                    iif((s.completeness - s.judged) * s.run_s >= 60, 'in contention since it started',
                                        'no quiet baseline yet')) ELSE '' END
                || CASE WHEN coalesce(s.caveat, '') <> '' THEN '; ' || s.caveat ELSE '' END, '; ') AS note
    FROM job_slowdown s
    UNION ALL
    SELECT f.job_id, 2, 'factor', 'self', s.start_time, s.start_time + s.run_s, f.self_s, f.self_lo_s, f.self_hi_s, NULL, 'self',
           NULL, NULL, NULL, s.completeness, 'lost to its own traffic'
    FROM job_factors f JOIN job_slowdown s USING (job_id)
    UNION ALL
    SELECT f.job_id, 2, 'factor', 'other jobs', s.start_time, s.start_time + s.run_s, f.other_s, f.other_lo_s, f.other_hi_s, NULL,
           'other_job', NULL, NULL, NULL, s.completeness, 'lost to others'
    FROM job_factors f JOIN job_slowdown s USING (job_id)
    UNION ALL
    SELECT f.job_id, 2, 'factor', 'placement', s.start_time, s.start_time + s.run_s, s.run_s * (1 - 1 / nullif(f.placement, 0)),
           s.run_s * (1 - 1 / nullif(f.placement_lo, 0)), s.run_s * (1 - 1 / nullif(f.placement_hi, 0)), NULL, NULL, NULL,
           NULL, NULL, s.completeness,
           printf('run time is %.3f [%.3f, %.3f] times that at the best known placement', f.placement, f.placement_lo,
                  f.placement_hi)
    FROM job_factors f JOIN job_slowdown s USING (job_id) WHERE f.placement IS NOT NULL
    UNION ALL
    SELECT f.job_id, 2, 'factor', 'beta', s.start_time, s.start_time + s.run_s, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
           s.completeness,
           printf('a second of contention costs %.3f s [%.3f, %.3f] of run time, learnt from %d runs', f.beta, f.beta_lo,
                  f.beta_hi, f.beta_runs)
    FROM job_factors f JOIN job_slowdown s USING (job_id)
    UNION ALL
    SELECT c.job_id, 3, 'cause', NULL, s.start_time, s.start_time + s.run_s, c.share * s.slowdown_s, c.share * s.slowdown_lo_s,
           c.share * s.slowdown_hi_s, c.share, c.cause, c.kind, c.series_or_job, NULL, s.completeness, NULL
    FROM job_causes c JOIN job_slowdown s USING (job_id)
    UNION ALL
    SELECT v.job_id, 4, 'region', r.name, max(r.start_time, j.start_time), min(r.end_time, j.until_time), v.lost_s, NULL, NULL,
           v.share, r.cause, r.kind, c.series_or_job, r.confidence, r.completeness,
           printf('region %d: %d links at most, peak %.3f%s', r.region_id, r.links_most, r.peak,
                  iif(r.open, ', goes on', ''))
    FROM region_victims v JOIN regions r USING (region_id) JOIN job_runs j USING (job_id)
    LEFT JOIN region_causes c ON c.region_id = r.region_id AND c.position = 0
    UNION ALL
    SELECT j.job_id, 5, 'load', r.name, max(r.start_time, j.start_time), min(r.end_time, j.until_time), NULL, NULL, NULL,
           c.share, c.cause, r.kind, j.job_id, c.confidence, r.completeness,
           printf('region %d: the job makes a part of its load (%s)', r.region_id,
                  (SELECT group_concat(e.value, ', ') FROM json_each(c.evidence) e))
    FROM region_causes c JOIN job_runs j ON j.job_id = c.series_or_job JOIN regions r USING (region_id)
    WHERE r.start_time < j.until_time AND r.end_time > j.start_time
    UNION ALL
    SELECT e.job_id, 6, 'resource', s.name, min(e.from_time), max(e.until_time), sum(e.lost_s), sum(e.lost_lo_s),
           sum(e.lost_hi_s), NULL, NULL, NULL, NULL, NULL, avg(e.completeness),
           printf('%d episodes, contended %.1f s', count(*), sum(e.until_time - e.from_time))
    FROM job_episodes e JOIN series s USING (series_id) GROUP BY e.job_id, e.series_id
) f JOIN job_runs r USING (job_id)
ORDER BY f.part, f.lost_s IS NULL, f.lost_s DESC, f.share IS NULL, f.share DESC, f.resource;

-- Jobs that ran at the same time and shared a switch, a group, a file system or a region; a row for each way of sharing.
CREATE VIEW job_neighbours AS
WITH things AS (
    SELECT n.job_id, 'switch' AS shared, p.switch AS what FROM job_nodes n JOIN node_places p USING (node)
    UNION
    SELECT n.job_id, 'group', p.group_name FROM job_nodes n JOIN node_places p USING (node) WHERE p.group_name IS NOT NULL
    UNION
    SELECT js.job_id, 'file system', s.part FROM job_series js JOIN series s USING (series_id)
    WHERE s.metric = 'lustre_write_rate' AND s.part IS NOT NULL
    UNION
    SELECT v.job_id, 'region', r.name FROM region_victims v JOIN regions r USING (region_id)
    UNION
    SELECT c.series_or_job, 'region', r.name FROM region_causes c JOIN regions r USING (region_id)
)
SELECT a.job_id AS of_job, b.job_id, j.user_name, j.name, max(a.start_time, b.start_time) AS from_time,
       min(a.until_time, b.until_time) AS until_time,
       min(a.until_time, b.until_time) - max(a.start_time, b.start_time) AS overlap_s, mine.shared, count(*) AS count,
       group_concat(mine.what, ', ') AS what
FROM job_runs a JOIN job_runs b ON b.job_id <> a.job_id AND b.start_time < a.until_time AND b.until_time > a.start_time
JOIN things mine ON mine.job_id = a.job_id
JOIN things theirs ON theirs.job_id = b.job_id AND theirs.shared = mine.shared AND theirs.what = mine.what
JOIN jobs j ON j.job_id = b.job_id
GROUP BY a.job_id, b.job_id, mine.shared
ORDER BY overlap_s DESC, b.job_id, mine.shared;

-- What became of each region, step by step.
CREATE VIEW region_history AS
SELECT s.region_id, s.time AS at_time, s.change, nullif(s.other, 0) AS other, o.name AS other_name, s.links, s.worst_series,
       s.worst
FROM region_steps s LEFT JOIN regions o ON o.region_id = s.other
ORDER BY s.region_id, s.time, s.change, s.other;

-- Series by seconds lost in all that the store holds; `queries/worst_links.sql` takes a span of time.
CREATE VIEW worst_links AS
SELECT row_number() OVER (ORDER BY e.lost_s DESC, e.contended_s DESC, s.name) AS rank, s.name AS series, s.metric, e.lost_s,
       e.lost_lo_s, e.lost_hi_s, e.contended_s, e.episodes, e.peak, e.completeness,
       (SELECT group_concat(DISTINCT g.name) FROM region_series m JOIN regions g USING (region_id)
        WHERE m.series = s.name) AS regions
FROM (SELECT series_id, sum(slowdown_s) AS lost_s, sum(slowdown_lo_s) AS lost_lo_s, sum(slowdown_hi_s) AS lost_hi_s,
             sum(end_time - start_time) AS contended_s, count(*) AS episodes, max(peak) AS peak,
             avg(completeness) AS completeness
      FROM episodes GROUP BY series_id) e JOIN series s USING (series_id)
ORDER BY rank;

-- Two runs side by side: WHERE job_a = ? AND job_b = ?.
CREATE VIEW compare_jobs AS
SELECT c.job_a, c.job_b, c.item, c.unit, c.value_a, c.value_b, iif(c.part = 1, NULL, c.value_a - c.value_b) AS difference, c.note
FROM (
    SELECT a.job_id AS job_a, b.job_id AS job_b, 1 AS part, 'configuration' AS item, '' AS unit,
           a.configuration AS value_a, b.configuration AS value_b,
           CASE WHEN a.configuration IS NULL OR b.configuration IS NULL
                THEN 'not known of both: whether the runs can be compared is not known'
                WHEN a.configuration <> b.configuration
                THEN 'configurations differ: a difference in run time is not contention' END AS note
    FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 2, 'nodes', '', a.nodes, b.nodes,
           (SELECT count(*) FROM job_nodes n JOIN job_nodes m USING (node)
            WHERE n.job_id = a.job_id AND m.job_id = b.job_id) || ' nodes in common'
    FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 3, 'run', 's', a.run_s, b.run_s,
           iif(a.end_time IS NULL OR b.end_time IS NULL, 'no end of both is known', NULL)
    FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 4, 'lost', 's', a.slowdown_s, b.slowdown_s,
           iif(a.slowdown_lo_s <= b.slowdown_hi_s AND b.slowdown_lo_s <= a.slowdown_hi_s,
               'the intervals overlap: no difference is certain', NULL)
    FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 5, 'lost of the run', '%', a.slowdown_percent, b.slowdown_percent, NULL
    FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 6, 'contended', 's', a.contended_s, b.contended_s, NULL
    FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 7, 'run without the loss', 's', a.run_s - a.slowdown_s, b.run_s - b.slowdown_s, NULL
    FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 8, 'completeness', '', a.completeness, b.completeness,
           iif(coalesce(min(a.completeness, b.completeness), 0) < 0.9,
               'a tenth or more of the data is missing: losses may be larger than told', NULL)
    FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 9, 'factor self', 's', a.self_s, b.self_s, NULL FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 10, 'factor other jobs', 's', a.other_s, b.other_s, NULL
    FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 11, 'factor placement', '', a.placement, b.placement, NULL
    FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 12, 'beta', '', a.beta, b.beta, NULL FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 13, 'regions', '', a.regions, b.regions, NULL FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 14, 'cause ' || w.cause, 's',
           (SELECT sum(c.share) FROM job_causes c WHERE c.job_id = a.job_id AND c.cause = w.cause) * a.slowdown_s,
           (SELECT sum(c.share) FROM job_causes c WHERE c.job_id = b.job_id AND c.cause = w.cause) * b.slowdown_s, NULL
    FROM job_slowdown a CROSS JOIN job_slowdown b CROSS JOIN (SELECT DISTINCT cause FROM job_causes) w
    WHERE EXISTS (SELECT 1 FROM job_causes c WHERE c.job_id IN (a.job_id, b.job_id) AND c.cause = w.cause)
) c
ORDER BY c.part, c.item;
