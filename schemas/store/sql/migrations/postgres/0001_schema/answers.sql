-- Functions that answer questions; docs/sql.md has an example of each. With the rights of the caller,
-- so that the row policies apply. Compiling such a query costs more than it saves, hence no jit.

-- The number of a job, or for a name that users call jobs by the latest of that name; null for an unknown job.
CREATE FUNCTION job_named(job text) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE SET search_path = public, pg_temp AS $$
    SELECT j.job_id FROM jobs j WHERE j.job_id = $1 OR (j.label = $1 AND j.label <> '')
    ORDER BY j.job_id = $1 DESC, j.start_time DESC LIMIT 1
$$;

-- One row a fact: the job, the factors of its loss, its causes, the regions in which it waits, those to whose
-- load it contributes, and the resources that cost it most.
CREATE FUNCTION job_post_mortem(job text)
    RETURNS TABLE (fact text, resource text, from_time timestamptz, until_time timestamptz, lost_s double precision,
                   lost_lo_s double precision, lost_hi_s double precision, percent_of_run double precision,
                   share double precision, cause text, kind text, who text, confidence double precision,
                   completeness double precision, note text)
    LANGUAGE sql STABLE SET search_path = public, pg_temp SET jit = off SET enable_memoize = off AS $$
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
                              WHEN run.end_presumed THEN 'end not reported' END,
                         CASE WHEN run.completeness IS NULL OR run.completeness = 0
                              THEN 'nothing was measured: whether it lost time is not known'
                              WHEN run.completeness - run.judged > 0.005
                              THEN format('not judged: %s%% of its time, %s',
                                          round((100 * (run.completeness - run.judged))::numeric),
                                          CASE WHEN (run.completeness - run.judged) * run.run_s >= 60
                                               THEN 'in contention since it started'
                                               ELSE 'no quiet baseline yet' END) END,
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
             format('a contended second costs %s s [%s, %s] of run time, learned from %s runs', round(j.beta::numeric, 3),
                    round(j.beta_lo::numeric, 3), round(j.beta_hi::numeric, 3), j.beta_runs))
        ) AS f (what, lost_s, lo_s, hi_s, cause, note)
        WHERE f.what <> 'placement' OR j.placement IS NOT NULL
        UNION ALL
        SELECT 3, 'cause', NULL, run.start_time, run.until_time, c.share * run.slowdown_s, c.share * run.lo_s,
               c.share * run.hi_s, c.share, c.cause, c.kind, c.series_or_job, NULL, run.completeness, NULL
        FROM run JOIN job_causes_shown c ON c.job_id = (SELECT run.job_id FROM run)
        UNION ALL
        SELECT 4, 'region', r.name, greatest(r.start_time, run.start_time), least(r.end_time, run.until_time), v.lost_s,
               NULL, NULL, v.share, r.cause, r.kind, c.series_or_job, r.confidence, r.completeness,
               format('region %s: %s links at most, peak %s%s', r.region_id, r.links_most, round(r.peak::numeric, 3),
                      CASE WHEN r.open THEN ', ongoing' ELSE '' END)
        FROM run JOIN region_victims v USING (job_id) JOIN regions r USING (region_id)
        LEFT JOIN LATERAL (
            -- A seek for each region: OFFSET keeps the planner from reading the causes of all.
            SELECT s.series_or_job FROM region_causes_shown s WHERE s.region_id = r.region_id AND s.position = 0 OFFSET 0
        ) c ON true
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

-- How the loss of a job grew: seconds lost from its start until each of so many times. Episodes of several series overlap,
-- and a job waits once for all of them: the shape is theirs, the height is the job's result. Within an episode the loss
-- is taken to grow evenly.
CREATE FUNCTION job_loss_curve(job text, points integer DEFAULT 200)
    RETURNS TABLE (at_time timestamptz, lost_s double precision, lost_lo_s double precision, lost_hi_s double precision)
    LANGUAGE sql STABLE SET search_path = public, pg_temp SET jit = off SET enable_memoize = off AS $$
    WITH run AS (
        SELECT r.job_id, r.start_time, r.until_time, extract(epoch FROM r.until_time - r.start_time) / greatest($2, 1) AS step_s,
               j.slowdown_s, j.slowdown_lo_s, j.slowdown_hi_s
        FROM job_runs r LEFT JOIN job_results j USING (job_id)
        WHERE r.job_id = job_named($1) AND r.until_time > r.start_time
    ), stretches AS (
        -- As seconds of the run, to the microsecond: fractions of intervals, and `extract`, are computed digit by digit.
        SELECT e.lost_s, r.step_s::double precision AS step_s,
               date_part('epoch', e.from_time - r.start_time) AS from_s,
               date_part('epoch', e.until_time - r.start_time) AS until_s
        FROM run r JOIN job_episodes e USING (job_id) WHERE e.lost_s > 0 AND e.job_id = job_named($1)
    ), steps AS (
        -- Not a join with the series of steps: that would make a table of them for each episode.
        SELECT e.*, generate_series(greatest(1, ceil(e.from_s / e.step_s))::integer,
                                    greatest(1, ceil(e.until_s / e.step_s))::integer) AS k
        FROM stretches e
    ), parts AS (
        SELECT k AS step, sum(e.lost_s * CASE WHEN e.until_s > e.from_s
                   THEN (least(e.until_s, round(e.step_s * k * 1e6) / 1e6)
                         - greatest(e.from_s, round(e.step_s * (k - 1) * 1e6) / 1e6)) / (e.until_s - e.from_s)
                   ELSE 1 END) AS lost_s
        FROM steps e GROUP BY 1
    ), grown AS (
        SELECT k AS step, sum(coalesce(p.lost_s, 0)) OVER (ORDER BY k)
                          / nullif(sum(coalesce(p.lost_s, 0)) OVER (), 0) AS share
        FROM generate_series(0, greatest($2, 1)) AS k LEFT JOIN parts p ON p.step = k
    )
    SELECT r.start_time + make_interval(secs => r.step_s * g.step), coalesce(g.share, 0) * r.slowdown_s,
           coalesce(g.share, 0) * r.slowdown_lo_s, coalesce(g.share, 0) * r.slowdown_hi_s
    FROM run r CROSS JOIN grown g ORDER BY g.step
$$;

-- Jobs that ran at the same time and shared a switch (an Aries router), a group, a file system or a region; a row for
-- each way of sharing. `what` names at most twenty of the things shared. A user sees own jobs only.
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
    ), asked AS MATERIALIZED (
        SELECT o.job_id FROM others o UNION ALL SELECT run.job_id FROM run
    ), places AS (
        SELECT DISTINCT n.job_id, p.switch, p.group_name
        FROM job_nodes n JOIN node_places p USING (node)
        WHERE n.job_id IN (SELECT a.job_id FROM asked a)
    ), things AS (
        SELECT p.job_id, 'switch' AS shared, p.switch AS what FROM places p
        UNION
        SELECT p.job_id, 'group', p.group_name FROM places p WHERE p.group_name IS NOT NULL
        UNION
        -- As an array, which the view passes to its index; a join would read the resources of all jobs.
        SELECT r.job_id, 'file system', r.part FROM job_resources r
        WHERE r.job_id = ANY (ARRAY(SELECT a.job_id FROM asked a)) AND r.metric = 'lustre_write_rate' AND r.part IS NOT NULL
        UNION
        SELECT v.job_id, 'region', r.name FROM region_victims v JOIN regions r USING (region_id)
        WHERE v.job_id IN (SELECT a.job_id FROM asked a)
        UNION
        SELECT c.series_or_job, 'region', r.name FROM region_causes_shown c JOIN regions r USING (region_id)
        WHERE c.series_or_job IN (SELECT a.job_id FROM asked a)
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

-- Two runs side by side. The configurations are first: where they differ, so may the run times, and contention is not
-- the reason.
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
                  THEN 'a tenth or more of the data is missing: losses may be larger than reported' END),
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

-- Timeline of a region. A user sees regions in which own jobs wait or to whose load they contribute.
CREATE FUNCTION region_history(region bigint)
    RETURNS TABLE (at_time timestamptz, change text, other bigint, other_name text, links integer, worst_series text,
                   worst double precision)
    LANGUAGE sql STABLE SET search_path = public, pg_temp SET jit = off AS $$
    SELECT s.time, s.change, nullif(s.other, 0), o.name, s.links, s.worst_series, s.worst
    FROM region_steps s LEFT JOIN regions o ON o.region_id = s.other
    WHERE s.region_id = $1 ORDER BY s.time, s.change, s.other
$$;

-- Series by seconds lost between two times, the worst first. Rows are read only of episodes that cross one of the times.
-- Planned for the requested times, and by the index of ends: the planner takes the two ends for independent, and would read
-- all episodes for an hour of them.
CREATE FUNCTION worst_links(from_time timestamptz, until_time timestamptz, most integer DEFAULT 50)
    RETURNS TABLE (rank bigint, series text, metric text, lost_s double precision, lost_lo_s double precision,
                   lost_hi_s double precision, contended_s double precision, contended_share double precision,
                   episodes bigint, peak double precision, completeness double precision, regions text)
    LANGUAGE plpgsql STABLE SET search_path = public, pg_temp SET jit = off SET enable_seqscan = off
    SET plan_cache_mode = force_custom_plan AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH parts AS (
        SELECT e.series_id, e.slowdown_s, e.slowdown_lo_s, e.slowdown_hi_s, e.peak, e.completeness,
               extract(epoch FROM least(e.end_time, $2) - greatest(e.start_time, $1))::double precision AS contended_s,
               CASE WHEN e.start_time >= $1 AND e.end_time <= $2 THEN 1
                    WHEN e.slowdown_s > 0
                    THEN (SELECT (episode_loss_until(o.start_time, o.profile, o.slowdown_s, $2)
                                  - episode_loss_until(o.start_time, o.profile, o.slowdown_s, $1)) / o.slowdown_s
                          FROM episodes o WHERE o.source_partition = e.source_partition AND o.id = e.id)
                    ELSE 0 END AS share
        FROM episodes e WHERE e.start_time < $2 AND e.end_time > $1
        OFFSET 0 -- the share is computed once for the three losses
    ), ranked AS (
        SELECT p.series_id, sum(p.share * p.slowdown_s) AS lost_s, sum(p.share * p.slowdown_lo_s) AS lost_lo_s,
               sum(p.share * p.slowdown_hi_s) AS lost_hi_s, sum(p.contended_s) AS contended_s, count(*) AS episodes,
               max(p.peak) AS peak, avg(p.completeness) AS completeness
        FROM parts p GROUP BY p.series_id ORDER BY 2 DESC, 5 DESC, 1 LIMIT $3
    )
    SELECT row_number() OVER (ORDER BY r.lost_s DESC, r.contended_s DESC, s.name), s.name, s.metric, r.lost_s, r.lost_lo_s,
           r.lost_hi_s, r.contended_s, CASE WHEN isfinite($1) AND isfinite($2) AND $2 > $1
                THEN r.contended_s / extract(epoch FROM $2 - $1)::double precision END, r.episodes, r.peak,
           r.completeness,
           (SELECT string_agg(DISTINCT g.name, ', ') FROM region_series m JOIN regions g USING (region_id)
            WHERE m.series = s.name AND g.start_time < $2 AND g.end_time > $1)
    FROM ranked r JOIN series s USING (series_id) ORDER BY 1;
END $$;

-- What a job on these nodes would meet now. `figure` is in `unit`; it is null where nothing is known. Minutes of links are
-- joined: an array of a thousand nodes' links would be searched for each minute of each series, which takes half a
-- minute. The planner underestimates the minutes and would sort them.
CREATE FUNCTION placement_advice(nodes text[])
    RETURNS TABLE (topic text, name text, figure double precision, unit text, detail text)
    LANGUAGE sql STABLE SET search_path = public, pg_temp SET jit = off SET plan_cache_mode = force_custom_plan
    SET enable_mergejoin = off AS $$
    WITH asked AS (
        SELECT DISTINCT n.node FROM unnest($1) AS n (node) WHERE n.node <> ''
    ), places AS (
        SELECT a.node, coalesce(p.switch, m.cname[1]) AS switch, coalesce(p.group_name, aries_group(a.node)) AS group_name
        FROM asked a LEFT JOIN node_places p USING (node)
        LEFT JOIN LATERAL regexp_match(a.node, '^(c\d+-\d+c\d+s\d+)n\d+$') AS m (cname) ON true
    ), switches AS (
        SELECT p.switch, count(DISTINCT p.node) AS nodes FROM places p WHERE p.switch IS NOT NULL GROUP BY 1
    ), groups AS (
        SELECT p.group_name, count(DISTINCT p.node) AS nodes FROM places p WHERE p.group_name IS NOT NULL GROUP BY 1
    ), links AS (
        SELECT s.series_id, s.name FROM series s
        WHERE s.component IN (SELECT w.switch FROM switches w UNION ALL SELECT a.node FROM asked a)
    ), open_regions AS (
        SELECT r.region_id, r.name, r.peak, r.cause, r.kind, r.relief, r.start_time, count(*) AS links
        FROM regions r JOIN region_series m USING (region_id) JOIN links l ON l.name = m.series
        WHERE r.open AND m.position IS NOT NULL GROUP BY r.region_id
    ), running AS (
        SELECT j.job_id, count(DISTINCT w.switch) AS switches, count(DISTINCT g.group_name) AS groups
        FROM jobs j JOIN job_nodes n USING (job_id) JOIN node_places p USING (node)
        LEFT JOIN switches w USING (switch) LEFT JOIN groups g ON g.group_name = p.group_name
        WHERE j.end_time IS NULL OR j.end_time > (SELECT now FROM clock)
        GROUP BY j.job_id HAVING count(w.switch) + count(g.group_name) > 0
    ), shared AS (
        SELECT count(DISTINCT w.switch) AS switches
        FROM jobs j JOIN job_nodes n USING (job_id) JOIN node_places p USING (node) JOIN switches w USING (switch)
        WHERE j.end_time IS NULL OR j.end_time > (SELECT now FROM clock)
    ), hour AS (
        SELECT b.series_id, sum(b.contended_ticks)::double precision / nullif(sum(b.ticks), 0) AS share
        FROM signals_1min b JOIN links USING (series_id)
        WHERE b.time > latest_time() - interval '1 hour'
        GROUP BY 1
    ), facts AS (
        SELECT (SELECT count(*) FROM asked) AS nodes,
               (SELECT count(*) FROM asked a WHERE NOT EXISTS (SELECT FROM places p WHERE p.node = a.node AND p.switch IS NOT NULL))
                   AS unplaced,
               (SELECT count(*) FROM switches) AS switches, (SELECT count(*) FROM groups) AS groups,
               (SELECT count(*) FROM open_regions) AS regions, (SELECT count(*) FROM running) AS jobs,
               (SELECT s.switches FROM shared s) AS shared, (SELECT count(*) FROM links) AS links,
               (SELECT count(*) FROM hour WHERE share IS NOT NULL) AS measured,
               (SELECT avg(share) FROM hour) AS mean_share, (SELECT max(share) FROM hour) AS worst_share
    ), answer AS (
        SELECT 1 AS part, 'span' AS topic, 'switches' AS name, f.switches::double precision AS figure, 'switches' AS unit,
               CASE WHEN f.unplaced > 0 THEN format('the switch of %s of the %s nodes is not known', f.unplaced, f.nodes)
                    ELSE format('%s nodes', f.nodes) END AS detail
        FROM facts f
        UNION ALL
        SELECT 2, 'span', 'groups', f.groups, 'groups',
               (SELECT string_agg(format('%s: %s nodes', g.group_name, g.nodes), ', ' ORDER BY g.group_name) FROM groups g)
        FROM facts f
        UNION ALL
        SELECT 3, 'expected contention', 'mean of its links', f.mean_share, 'share of time',
               format('of the last hour; %s of %s links were measured', f.measured, f.links)
        FROM facts f
        UNION ALL
        SELECT 4, 'expected contention', 'worst link', f.worst_share, 'share of time',
               (SELECT l.name FROM hour h JOIN links l USING (series_id) WHERE h.share IS NOT NULL
                ORDER BY h.share DESC, l.name LIMIT 1)
        FROM facts f
        UNION ALL
        SELECT 5, 'open region', r.name, r.links, 'links of these nodes',
               format('region %s since %s: %s, %s; peak %s', r.region_id, to_char(r.start_time, 'YYYY-MM-DD HH24:MI:SS TZ'),
                      r.cause, r.kind, round(r.peak::numeric, 3))
        FROM open_regions r
        UNION ALL
        SELECT 6, 'running job', r.job_id, r.switches, 'switches shared', format('%s groups shared', r.groups) FROM running r
        UNION ALL
        SELECT 7, 'advice', a.source, NULL, NULL, a.advice
        FROM facts f CROSS JOIN LATERAL (VALUES
            (f.regions > 0, 'Tailback', format('%s contended regions are open on links of these nodes: take others, or wait.',
                                               f.regions)),
            (f.links = 0 OR f.measured = 0, 'Tailback',
             'No link of these nodes was measured in the last hour: what to expect is not known.'),
            (f.shared > 0, 'Brown 2018',
             format('%s of its %s switches are shared with running jobs: whole leaves separate I/O from messages, with at '
                    'least ten times fewer links shared.', f.shared, f.switches)),
            (f.shared = 0 AND f.switches > 0 AND f.unplaced = 0, 'Brown 2018',
             'No switch is shared with a running job, as whole-leaf placement wants it.'),
            (f.groups = 1, 'Kang 2019',
             'One group: nearest-neighbour (stencil) patterns run best on contiguous nodes, tornado-like ones were 2.8 to '
             '17.3 times slower there than on random nodes.'),
            (f.groups > 1, 'Kang 2019',
             format('%s groups: tornado-like patterns run best spread out, stencil patterns were 1.54 to 22.6 times slower on '
                    'random nodes than on contiguous ones. Spread-out jobs lose more to other jobs.', f.groups))
        ) AS a (holds, source, advice)
        WHERE a.holds
    )
    SELECT a.topic, a.name, a.figure, a.unit, a.detail FROM answer a ORDER BY a.part, a.figure DESC NULLS LAST, a.name, a.detail
$$;

-- Signals of a span in the tier that fits: the coarsest that still has a row for each step, and none that is expired at
-- the start of the span. The steps are compared while the query is planned: only tables that are read are in the plan.
CREATE FUNCTION signals_over(from_time timestamptz, until_time timestamptz, step_s double precision)
    RETURNS TABLE (series_id integer, at_time timestamptz, value double precision, value_min double precision,
                   value_max double precision, mean double precision, baseline double precision, bound double precision,
                   ticks bigint, contended_ticks bigint, slowdown_s double precision)
    LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT r.series_id, r.time, r.value::double precision, r.value::double precision, r.value::double precision,
           r.mean::double precision, r.baseline::double precision, r.bound::double precision, r.ticks::bigint,
           CASE WHEN r.state = 2 THEN r.ticks ELSE 0 END::bigint, r.slowdown_s
    FROM signal_rows r
    WHERE $3 < 10 AND r.time >= $1 AND r.time <= $2
      AND (SELECT coalesce($1 >= now() - t.kept_for, true) FROM tier_retention t WHERE t.tier = 'raw')
    UNION ALL
    SELECT b.series_id, b.time, b.value::double precision, b.value_min::double precision, b.value_max::double precision,
           b.mean::double precision, b.baseline::double precision, NULL::double precision, b.ticks::bigint,
           b.contended_ticks::bigint, b.slowdown_s
    FROM signal_buckets b
    WHERE $3 < 60 AND b.time >= $1 - interval '10 seconds' AND b.time <= $2
      AND ($3 >= 10 OR NOT (SELECT coalesce($1 >= now() - t.kept_for, true) FROM tier_retention t WHERE t.tier = 'raw'))
      AND (SELECT coalesce($1 >= now() - t.kept_for, true) FROM tier_retention t WHERE t.tier = '10s')
    UNION ALL
    SELECT m.series_id, m.time, m.value::double precision, m.value_min::double precision, m.value_max::double precision,
           m.mean::double precision, m.baseline::double precision, NULL::double precision, m.ticks::bigint,
           m.contended_ticks::bigint, m.slowdown_s
    FROM signals_1min m
    WHERE $3 < 900 AND m.time >= $1 - interval '1 minute' AND m.time <= $2
      AND ($3 >= 60 OR NOT (SELECT coalesce($1 >= now() - t.kept_for, true) FROM tier_retention t WHERE t.tier = '10s'))
      AND (SELECT coalesce($1 >= now() - t.kept_for, true) FROM tier_retention t WHERE t.tier = '1min')
    UNION ALL
    SELECT h.series_id, h.time, h.value::double precision, h.value_min::double precision, h.value_max::double precision,
           h.mean::double precision, h.baseline::double precision, NULL::double precision, h.ticks::bigint,
           h.contended_ticks::bigint, h.slowdown_s
    FROM signals_1h h
    WHERE h.time >= $1 - interval '1 hour' AND h.time <= $2
      AND ($3 >= 900 OR NOT (SELECT coalesce($1 >= now() - t.kept_for, true) FROM tier_retention t WHERE t.tier = '1min'))
$$;

-- Counters of one series in a span, in the tier that fits its steps: where the step is below ten seconds, stored ticks and
-- the rest of each minute without them; else minutes, and hours where the step is a quarter of an hour or minutes are not kept
-- so long. Steps are compared while the query is planned: only tables that are read are in the plan.
CREATE FUNCTION counters_over(asked text, from_time timestamptz, until_time timestamptz, step_s double precision)
    RETURNS TABLE (at_time timestamptz, passed_per_s double precision, waited_per_s double precision, ticks bigint)
    LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT r.time, r.passed_per_s::double precision, r.waited_per_s::double precision, r.ticks::bigint
    FROM signal_rows r
    WHERE $4 < 10 AND r.series_id = (SELECT s.series_id FROM series s WHERE s.name = $1) AND r.time >= $2 AND r.time <= $3
      AND r.passed_per_s IS NOT NULL
      AND (SELECT coalesce($2 >= now() - t.kept_for, true) FROM tier_retention t WHERE t.tier = '1min')
    UNION ALL
    SELECT m.time, greatest(m.passed_per_s * m.ticks - coalesce(k.passed, 0), 0) / (m.ticks - coalesce(k.ticks, 0)),
           greatest(m.waited_per_s * m.ticks - coalesce(k.waited, 0), 0) / (m.ticks - coalesce(k.ticks, 0)),
           m.ticks - coalesce(k.ticks, 0)
    FROM signals_1min m LEFT JOIN (
        SELECT date_bin('1 minute', r.time, 'epoch') AS minute, count(*) AS ticks, sum(r.passed_per_s::double precision) AS passed,
               sum(r.waited_per_s::double precision) AS waited
        FROM signal_rows r
        WHERE $4 < 10 AND r.series_id = (SELECT s.series_id FROM series s WHERE s.name = $1) AND r.time >= $2 AND r.time <= $3
          AND r.passed_per_s IS NOT NULL
        GROUP BY 1
    ) k ON k.minute = m.time
    WHERE $4 < 900 AND m.series_id = (SELECT s.series_id FROM series s WHERE s.name = $1) AND m.time > $2 - interval '1 minute' AND m.time <= $3
      AND m.passed_per_s IS NOT NULL AND m.ticks > coalesce(k.ticks, 0)
      AND (SELECT coalesce($2 >= now() - t.kept_for, true) FROM tier_retention t WHERE t.tier = '1min')
    UNION ALL
    SELECT h.time, h.passed_per_s::double precision, h.waited_per_s::double precision, h.ticks
    FROM signals_1h h
    WHERE h.series_id = (SELECT s.series_id FROM series s WHERE s.name = $1) AND h.time > $2 - interval '1 hour' AND h.time <= $3
      AND h.passed_per_s IS NOT NULL
      AND ($4 >= 900 OR NOT (SELECT coalesce($2 >= now() - t.kept_for, true) FROM tier_retention t WHERE t.tier = '1min'))
$$;

-- Hours of a kind of places in a span, computed from minutes; TimescaleDB stores them.
CREATE FUNCTION place_hours(asked text, from_time timestamptz, until_time timestamptz)
    RETURNS TABLE (name text, metric text, at_time timestamptz, series bigint, contended_series bigint, ticks bigint,
                   contended_ticks bigint, value_sum double precision, value_max double precision)
    LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT p.name, p.metric, date_bin('1 hour', p.time, 'epoch'), max(p.series), max(p.contended_series), sum(p.ticks)::bigint,
           sum(p.contended_ticks)::bigint, avg(p.value_sum), max(p.value_max)
    FROM places_1min p
    WHERE p.kind = $1 AND p.time >= date_bin('1 hour', $2, 'epoch') AND p.time <= $3 GROUP BY 1, 2, 3
$$;

-- Until when the slowest partition has signals, without partitions that are behind by more than ten minutes, as for the
-- minutes of series. Only whole sums are returned: twenty seconds after their end every series that reports has written its own.
CREATE FUNCTION places_known_until() RETURNS timestamptz
    LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT coalesce(min(p.event_time), 'infinity') FROM stage_positions p, clock c
    WHERE p.stage = 'detector' AND p.event_time > c.now - interval '10 minutes'
$$;

-- Sums of places in a span in the tier that fits, as `signals_over` chooses it: the coarsest that still has a row for each step,
-- and none that is expired at the start of the span.
CREATE FUNCTION places_over(asked text, from_time timestamptz, until_time timestamptz, step_s double precision)
    RETURNS TABLE (name text, metric text, at_time timestamptz, series bigint, contended_series bigint, ticks bigint,
                   contended_ticks bigint, value_sum double precision, value_max double precision)
    LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT p.name, p.metric, p.time, p.series, p.contended_series, p.ticks, p.contended_ticks, p.value_sum, p.value_max
    FROM places_10s p
    WHERE $4 < 60 AND p.kind = $1 AND p.time > $2 - interval '10 seconds' AND p.time <= $3
      AND p.time <= (SELECT places_known_until() - interval '30 seconds')
      AND (SELECT coalesce($2 >= now() - t.kept_for, true) FROM tier_retention t WHERE t.tier = '10s')
    UNION ALL
    SELECT p.name, p.metric, p.time, p.series, p.contended_series, p.ticks, p.contended_ticks, p.value_sum, p.value_max
    FROM places_1min p
    WHERE $4 < 3600 AND p.kind = $1 AND p.time > $2 - interval '1 minute' AND p.time <= $3
      AND p.time <= (SELECT places_known_until() - interval '90 seconds')
      AND ($4 >= 60 OR NOT (SELECT coalesce($2 >= now() - t.kept_for, true) FROM tier_retention t WHERE t.tier = '10s'))
      AND (SELECT coalesce($2 >= now() - t.kept_for, true) FROM tier_retention t WHERE t.tier = '1min')
    UNION ALL
    SELECT * FROM place_hours($1, $2, $3)
    WHERE ($4 >= 3600 OR NOT (SELECT coalesce($2 >= now() - t.kept_for, true) FROM tier_retention t WHERE t.tier = '1min'))
$$;

-- Size of the tables, and of those in the columnstore what they would take without it.
CREATE FUNCTION storage_sizes()
    RETURNS TABLE (name text, bytes bigint, uncompressed_bytes bigint, compressed_bytes bigint)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT c.relname::text, pg_total_relation_size(c.oid), NULL::bigint, NULL::bigint
    FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' ORDER BY 2 DESC
$$;
