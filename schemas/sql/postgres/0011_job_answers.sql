-- Answers about jobs; README.md beside this folder has an example of each. With the rights of who asks, so that the row
-- policies hold. Compiling such a query costs more than it saves, hence no jit.

-- Its number, or for what users call it the latest of that name; null for a job that is not known.
CREATE FUNCTION job_named(job text) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE SET search_path = public, pg_temp AS $$
    SELECT j.job_id FROM jobs j WHERE j.job_id = $1 OR (j.label = $1 AND j.label <> '')
    ORDER BY j.job_id = $1 DESC, j.start_time DESC LIMIT 1
$$;

CREATE OR REPLACE VIEW job_slowdown WITH (security_invoker = true) AS
SELECT j.job_id, j.user_name, j.name, j.start_time, j.end_time,
       r.contended_s, r.slowdown_s, r.slowdown_lo_s, r.slowdown_hi_s, r.completeness,
       j.label, j.end_presumed,
       extract(epoch FROM u.until_time - j.start_time)::double precision AS run_s,
       100 * r.slowdown_s / nullif(extract(epoch FROM u.until_time - j.start_time), 0)::double precision
           AS slowdown_percent,
       f.configuration, f.self_s, f.other_s, f.placement, f.beta, f.caveat,
       (SELECT count(*) FROM job_nodes n WHERE n.job_id = j.job_id) AS nodes,
       (SELECT count(*) FROM region_victims v WHERE v.job_id = j.job_id) AS regions,
       r.judged
FROM jobs j LEFT JOIN job_results r USING (job_id) LEFT JOIN job_factors f USING (job_id)
CROSS JOIN LATERAL (
    SELECT coalesce(j.end_time, greatest((SELECT now FROM clock), j.start_time)) AS until_time
) u;

-- One row a fact: the job, the factors of its loss, its causes, the regions in which it waits, those of whose load it
-- makes a part, and the resources that cost it most.
CREATE FUNCTION job_post_mortem(job text)
    RETURNS TABLE (fact text, resource text, from_time timestamptz, until_time timestamptz, lost_s double precision,
                   lost_lo_s double precision, lost_hi_s double precision, percent_of_run double precision,
                   share double precision, cause text, kind text, who text, confidence double precision,
                   completeness double precision, note text)
    LANGUAGE sql STABLE SET search_path = public, pg_temp SET jit = off AS $$
    WITH run AS (
        SELECT s.*, s.start_time + make_interval(secs => s.run_s) AS until_time,
               r.slowdown_lo_s AS lo_s, r.slowdown_hi_s AS hi_s
        FROM job_slowdown s LEFT JOIN job_results r USING (job_id) WHERE s.job_id = job_named($1)
    ), per_series AS (
        SELECT e.series_id, min(e.from_time) AS from_time, max(e.until_time) AS until_time, sum(e.lost_s) AS lost_s,
               sum(e.lost_lo_s) AS lost_lo_s, sum(e.lost_hi_s) AS lost_hi_s, count(*) AS episodes,
               sum(extract(epoch FROM e.until_time - e.from_time))::double precision AS contended_s,
               avg(e.completeness) AS completeness, row_number() OVER (ORDER BY sum(e.lost_s) DESC, e.series_id) AS place
        FROM job_episodes e WHERE e.job_id = (SELECT run.job_id FROM run)
        GROUP BY e.series_id
    ), facts AS (
        SELECT 1 AS part, 'job' AS fact, format('%s nodes', run.nodes) AS resource, run.start_time AS from_time, run.until_time,
               run.slowdown_s AS lost_s, run.lo_s AS lost_lo_s, run.hi_s AS lost_hi_s, NULL::double precision AS share,
               NULL::text AS cause, NULL::text AS kind, run.user_name AS who, NULL::double precision AS confidence,
               run.completeness,
               concat_ws('; ', nullif(run.name, ''), 'configuration ' || run.configuration,
                         CASE WHEN run.end_time IS NULL THEN 'no end is known: it still runs, or its end never arrived'
                              WHEN run.end_presumed THEN 'nobody told of its end' END,
                         CASE WHEN run.completeness IS NULL OR run.completeness = 0
                              THEN 'nothing was measured: whether it lost time is not known' END,
                         nullif(run.caveat, '')) AS note
        FROM run
        UNION ALL
        SELECT 2, 'factor', f.what, run.start_time, run.until_time, f.lost_s, f.lo_s, f.hi_s, NULL, f.cause, NULL, NULL, NULL,
               run.completeness, f.note
        FROM run JOIN job_factors j USING (job_id) CROSS JOIN LATERAL (VALUES
            ('self', j.self_s, j.self_lo_s, j.self_hi_s, 'self', 'lost to its own traffic'),
            ('other jobs', j.other_s, j.other_lo_s, j.other_hi_s, 'other_job', 'lost to others'),
            ('placement', run.run_s * (1 - 1 / nullif(j.placement, 0)), run.run_s * (1 - 1 / nullif(j.placement_lo, 0)),
             run.run_s * (1 - 1 / nullif(j.placement_hi, 0)), NULL,
             coalesce(format('run time is %s [%s, %s] times that at the best known placement', round(j.placement::numeric, 3),
                             round(j.placement_lo::numeric, 3), round(j.placement_hi::numeric, 3)),
                      'not known')),
            ('beta', NULL, NULL, NULL, NULL,
             format('a second of contention costs %s s [%s, %s] of run time, learnt from %s runs', round(j.beta::numeric, 3),
                    round(j.beta_lo::numeric, 3), round(j.beta_hi::numeric, 3), j.beta_runs))
        ) AS f (what, lost_s, lo_s, hi_s, cause, note)
        WHERE f.what <> 'placement' OR j.placement IS NOT NULL
        UNION ALL
        SELECT 3, 'cause', NULL, run.start_time, run.until_time, c.share * run.slowdown_s, c.share * run.lo_s,
               c.share * run.hi_s, c.share, c.cause, c.kind, c.series_or_job, NULL, run.completeness, NULL
        FROM run JOIN job_causes_shown c USING (job_id)
        UNION ALL
        SELECT 4, 'region', r.name, greatest(r.start_time, run.start_time), least(r.end_time, run.until_time), v.lost_s,
               NULL, NULL, v.share, r.cause, r.kind, c.series_or_job, r.confidence, r.completeness,
               format('region %s: %s links at most, peak %s%s', r.region_id, r.links_most, round(r.peak::numeric, 3),
                      CASE WHEN r.open THEN ', goes on' ELSE '' END)
        FROM run JOIN region_victims v USING (job_id) JOIN regions r USING (region_id)
        LEFT JOIN region_causes_shown c ON c.region_id = r.region_id AND c.position = 0
        UNION ALL
        SELECT 5, 'load', r.name, greatest(r.start_time, run.start_time), least(r.end_time, run.until_time), NULL,
               NULL, NULL, c.share, c.cause, r.kind, run.job_id, c.confidence, r.completeness,
               format('region %s: the job makes a part of its load (%s)', r.region_id,
                      (SELECT string_agg(e.word, ', ') FROM jsonb_array_elements_text(c.evidence) AS e (word)))
        FROM run JOIN region_causes_shown c ON c.series_or_job = run.job_id JOIN regions r USING (region_id)
        WHERE r.start_time < run.until_time AND r.end_time > run.start_time
        UNION ALL
        SELECT 6, 'resource', n.series, p.from_time, p.until_time, p.lost_s, p.lost_lo_s, p.lost_hi_s, NULL, NULL, NULL,
               NULL, NULL, p.completeness, format('%s episodes, contended %s s', p.episodes, round(p.contended_s::numeric, 1))
        FROM per_series p JOIN job_resources n ON n.series_id = p.series_id AND n.job_id = (SELECT run.job_id FROM run)
        WHERE p.place <= 50
        UNION ALL
        SELECT 7, 'resources', format('%s more', count(*)), min(p.from_time), max(p.until_time), NULL, NULL, NULL, NULL, NULL,
               NULL, NULL, NULL, avg(p.completeness),
               format('%s episodes; none of them lost more than %s s', sum(p.episodes), round(max(p.lost_s)::numeric, 1))
        FROM per_series p WHERE p.place > 50 HAVING count(*) > 0
    )
    SELECT f.fact, f.resource, f.from_time, f.until_time, f.lost_s, f.lost_lo_s, f.lost_hi_s,
           100 * f.lost_s / nullif(run.run_s, 0), f.share, f.cause, f.kind, f.who, f.confidence, f.completeness, f.note
    FROM facts f CROSS JOIN run
    ORDER BY f.part, f.lost_s DESC NULLS LAST, f.share DESC NULLS LAST, f.resource
$$;

-- Jobs that ran at the same time and shared a switch (an Aries router), a group, a file system or a region; a row for
-- each way of sharing. `what` names at most twenty of the things shared. A user is told of own jobs alone.
CREATE FUNCTION job_neighbours(job text)
    RETURNS TABLE (job_id text, user_name text, name text, from_time timestamptz, until_time timestamptz,
                   overlap_s double precision, shared text, count bigint, what text)
    LANGUAGE sql STABLE SET search_path = public, pg_temp SET jit = off AS $$
    WITH run AS (
        SELECT r.* FROM job_runs r WHERE r.job_id = job_named($1)
    ), others AS (
        SELECT o.job_id, greatest(o.start_time, run.start_time) AS from_time,
               least(o.until_time, run.until_time) AS until_time
        FROM run JOIN job_runs o ON o.job_id <> run.job_id AND o.start_time < run.until_time
                                AND o.until_time > run.start_time
    ), places AS (
        SELECT DISTINCT n.job_id, p.switch, p.group_name
        FROM job_nodes n JOIN node_places p USING (node)
        WHERE n.job_id IN (SELECT o.job_id FROM others o UNION ALL SELECT run.job_id FROM run)
    ), things AS (
        SELECT p.job_id, 'switch' AS shared, p.switch AS what FROM places p
        UNION
        SELECT p.job_id, 'group', p.group_name FROM places p WHERE p.group_name IS NOT NULL
        UNION
        SELECT r.job_id, 'file system', r.part FROM job_resources r
        WHERE r.metric = 'lustre_write_rate' AND r.part IS NOT NULL
          AND r.job_id IN (SELECT o.job_id FROM others o UNION ALL SELECT run.job_id FROM run)
        UNION
        SELECT v.job_id, 'region', r.name FROM region_victims v JOIN regions r USING (region_id)
        UNION
        SELECT c.series_or_job, 'region', r.name FROM region_causes_shown c JOIN regions r USING (region_id)
    ), common AS (
        SELECT t.job_id, t.shared, count(*) AS count,
               array_to_string((array_agg(t.what ORDER BY t.what))[1:20], ', ') || CASE WHEN count(*) > 20 THEN ', …' ELSE '' END
                   AS what
        FROM things t JOIN things mine USING (shared, what)
        WHERE mine.job_id = (SELECT run.job_id FROM run)
        GROUP BY t.job_id, t.shared
    )
    SELECT o.job_id, j.user_name, j.name, o.from_time, o.until_time,
           extract(epoch FROM o.until_time - o.from_time)::double precision, c.shared, c.count, c.what
    FROM others o JOIN common c USING (job_id) JOIN jobs j USING (job_id)
    ORDER BY 6 DESC, 1, 7
$$;

-- Two runs side by side. The difference of configurations is told first: where they differ, so may the run times, and
-- contention is not the reason.
CREATE FUNCTION compare_jobs(a text, b text)
    RETURNS TABLE (item text, unit text, value_a text, value_b text, difference double precision, note text)
    LANGUAGE sql STABLE SET search_path = public, pg_temp SET jit = off AS $$
    WITH side_a AS (SELECT s.*, f.beta_runs FROM job_slowdown s LEFT JOIN job_factors f USING (job_id) WHERE s.job_id = job_named($1)),
    side_b AS (SELECT s.*, f.beta_runs FROM job_slowdown s LEFT JOIN job_factors f USING (job_id) WHERE s.job_id = job_named($2)),
    lost AS (
        SELECT c.cause, sum(c.share * s.slowdown_s) FILTER (WHERE s.side = 'a') AS a,
               sum(c.share * s.slowdown_s) FILTER (WHERE s.side = 'b') AS b
        FROM (SELECT 'a' AS side, x.job_id, x.slowdown_s FROM side_a x
              UNION ALL SELECT 'b', x.job_id, x.slowdown_s FROM side_b x) s JOIN job_causes_shown c USING (job_id)
        GROUP BY c.cause
    ), items AS (
        SELECT v.* FROM side_a x CROSS JOIN side_b y CROSS JOIN LATERAL (VALUES
            (1, 'configuration', '', x.configuration, y.configuration, NULL::double precision, NULL::double precision,
             CASE WHEN x.configuration IS NULL OR y.configuration IS NULL
                  THEN 'not known of both: whether the runs can be compared is not known'
                  WHEN x.configuration <> y.configuration
                  THEN 'configurations differ: a difference in run time is not contention' END),
            (2, 'nodes', '', NULL, NULL, x.nodes, y.nodes,
             format('%s nodes in common', (SELECT count(*) FROM job_nodes n JOIN job_nodes m USING (node)
                                           WHERE n.job_id = x.job_id AND m.job_id = y.job_id))),
            (3, 'run', 's', NULL, NULL, x.run_s, y.run_s, CASE WHEN x.end_time IS NULL OR y.end_time IS NULL
                                                              THEN 'no end of both is known' END),
            (4, 'lost', 's', NULL, NULL, x.slowdown_s, y.slowdown_s,
             CASE WHEN x.slowdown_lo_s <= y.slowdown_hi_s AND y.slowdown_lo_s <= x.slowdown_hi_s
                  THEN 'the intervals overlap: no difference is certain' END),
            (5, 'lost of the run', '%', NULL, NULL, x.slowdown_percent, y.slowdown_percent, NULL),
            (6, 'contended', 's', NULL, NULL, x.contended_s, y.contended_s, NULL),
            (7, 'run without the loss', 's', NULL, NULL, x.run_s - x.slowdown_s, y.run_s - y.slowdown_s, NULL),
            (8, 'completeness', '', NULL, NULL, x.completeness, y.completeness,
             CASE WHEN coalesce(least(x.completeness, y.completeness), 0) < 0.9
                    OR x.completeness IS NULL OR y.completeness IS NULL
                  THEN 'a tenth or more of the data is missing: losses may be larger than told' END),
            (9, 'factor self', 's', NULL, NULL, x.self_s, y.self_s, NULL),
            (10, 'factor other jobs', 's', NULL, NULL, x.other_s, y.other_s, NULL),
            (11, 'factor placement', '', NULL, NULL, x.placement, y.placement, NULL),
            (12, 'beta', '', NULL, NULL, x.beta, y.beta, NULL),
            (13, 'regions', '', NULL, NULL, x.regions, y.regions, NULL)
        ) AS v (part, item, unit, text_a, text_b, figure_a, figure_b, note)
        UNION ALL
        SELECT 14, 'cause ' || l.cause, 's', NULL, NULL, l.a, l.b, NULL
        FROM lost l WHERE EXISTS (SELECT FROM side_a) AND EXISTS (SELECT FROM side_b)
    )
    SELECT i.item, i.unit, coalesce(i.text_a, trim_scale(round(i.figure_a::numeric, 3))::text),
           coalesce(i.text_b, trim_scale(round(i.figure_b::numeric, 3))::text), i.figure_a - i.figure_b, i.note
    FROM items i ORDER BY i.part, i.item
$$;

DO $$
DECLARE
    answer text;
BEGIN
    FOREACH answer IN ARRAY ARRAY['job_named(text)', 'job_post_mortem(text)', 'job_neighbours(text)',
                                  'compare_jobs(text, text)'] LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', answer);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO tailback_writer, tailback_reader, tailback_user', answer);
    END LOOP;
END $$;
