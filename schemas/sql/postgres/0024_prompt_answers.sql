-- Answers about a month in less than a second: contended stretches are summed from indices alone, and joins begin with the
-- jobs that are asked about.

-- What is summed of stretches stands in the index: by series for jobs, by time for the whole machine. Their rows are
-- wide (profile, causes) and lie in the order in which they began, so that a job's are spread over many pages.
DROP INDEX episodes_by_series;
CREATE INDEX episodes_by_series ON episodes (series_id, start_time, end_time)
    INCLUDE (source_partition, id, slowdown_s, slowdown_lo_s, slowdown_hi_s, completeness);
DROP INDEX episodes_by_end;
CREATE INDEX episodes_by_end ON episodes (end_time, start_time)
    INCLUDE (series_id, source_partition, id, peak, baseline, slowdown_s, slowdown_lo_s, slowdown_hi_s, completeness);
-- An index answers alone where the pages are known to be visible to all: after a vacuum, which by default comes with a
-- fifth more rows, of months of stretches once in weeks.
ALTER TABLE episodes SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);

-- Which jobs used a series.
CREATE INDEX job_series_by_series ON job_series (series_id);

-- The group of an Aries router or cabinet by its cname: two cabinets of six chassis; null for other names. One expression
-- of immutable parts: the planner puts it into the query, where calling it cost a tenth of a millisecond for each name.
CREATE OR REPLACE FUNCTION aries_group(component text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN component ~ '^c\d{1,6}-\d{1,6}c\d+s\d+' THEN
        'c' || (substring(component, '^c(\d+)')::integer / 2 * 2)::text || substring(component, '^c\d+(-\d+)')
        || '..c' || (substring(component, '^c(\d+)')::integer / 2 * 2 + 1)::text || substring(component, '^c\d+(-\d+)') END
$$;

-- Seconds that an episode lost up to a time, by linear interpolation of its profile. Point by point: a query over so few
-- takes longer to set up than to run.
CREATE OR REPLACE FUNCTION episode_loss_until(start_time timestamptz, profile jsonb, slowdown_s double precision,
                                              at_time timestamptz)
    RETURNS double precision LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    asked_s      double precision := extract(epoch FROM at_time);
    points       jsonb := profile || '[]';  -- unpacked once
    before_s     double precision := extract(epoch FROM start_time);
    before_lost  double precision := 0;
    after_s      double precision;          -- null until one is found
    after_lost   double precision;
    point_s      double precision;
BEGIN
    IF at_time <= start_time THEN RETURN 0; END IF;
    FOR i IN 0 .. jsonb_array_length(points) - 1 LOOP
        point_s := (points->i->>0)::double precision;
        IF point_s >= asked_s AND (after_s IS NULL OR point_s < after_s) THEN
            after_s := point_s;
            after_lost := (points->i->>1)::double precision;
        ELSIF point_s < asked_s AND point_s >= before_s THEN
            before_s := point_s;
            before_lost := coalesce((points->i->>1)::double precision, 0);
        END IF;
    END LOOP;
    RETURN coalesce(before_lost + (after_lost - before_lost) * (asked_s - before_s) / nullif(after_s - before_s, 0),
                    slowdown_s);
END $$;

-- Contended stretches of a job's series during its run, and what of their loss falls into it. Who caused them is left
-- out: it names jobs. Only those that cross an edge of the run need their profile read, and their row with it.
CREATE OR REPLACE VIEW job_episodes WITH (security_barrier = true) AS
SELECT r.job_id, e.source_partition, e.id, e.series_id, greatest(e.start_time, r.start_time) AS from_time,
       least(e.end_time, r.until_time) AS until_time, e.open, e.peak, e.baseline,
       e.share * e.slowdown_s AS lost_s, e.share * e.slowdown_lo_s AS lost_lo_s,
       e.share * e.slowdown_hi_s AS lost_hi_s, e.completeness
FROM job_runs r JOIN job_series js USING (job_id)
CROSS JOIN LATERAL (
    -- A seek for each series, whatever is thought of how many they are: OFFSET keeps the planner from reading all episodes,
    -- and the share is computed once for the three losses.
    SELECT o.source_partition, o.id, o.series_id, o.start_time, o.end_time, o.open, o.peak, o.baseline, o.slowdown_s,
           o.slowdown_lo_s, o.slowdown_hi_s, o.completeness,
           CASE WHEN o.start_time >= r.start_time AND o.end_time <= r.until_time THEN 1
                WHEN o.slowdown_s > 0
                THEN (SELECT (episode_loss_until(p.start_time, p.profile, p.slowdown_s, r.until_time)
                              - episode_loss_until(p.start_time, p.profile, p.slowdown_s, r.start_time)) / p.slowdown_s
                      FROM episodes p WHERE p.source_partition = o.source_partition AND p.id = o.id)
                ELSE 0 END AS share
    FROM episodes o
    WHERE o.series_id = js.series_id AND o.start_time < r.until_time AND o.end_time > r.start_time OFFSET 0
) e;

-- One row a fact: the job, the factors of its loss, its causes, the regions in which it waits, those of whose load it
-- makes a part, and the resources that cost it most.
CREATE OR REPLACE FUNCTION job_post_mortem(job text)
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
                              WHEN run.end_presumed THEN 'nobody told of its end' END,
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
             format('a second of contention costs %s s [%s, %s] of run time, learnt from %s runs', round(j.beta::numeric, 3),
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
                      CASE WHEN r.open THEN ', goes on' ELSE '' END)
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
CREATE OR REPLACE FUNCTION job_loss_curve(job text, points integer DEFAULT 200)
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
        -- Not a join with the series of steps: that would make a table of them for each stretch.
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

-- Series by seconds lost between two times, the worst first. Rows are read of stretches that cross one of them alone.
-- Planned for the times that are asked, and by the index of ends: the planner takes the two ends for independent, and would read all episodes for an hour of them.
CREATE OR REPLACE FUNCTION worst_links(from_time timestamptz, until_time timestamptz, most integer DEFAULT 50)
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

-- Jobs that ran at the same time and shared a switch (an Aries router), a group, a file system or a region; a row for
-- each way of sharing. `what` names at most twenty of the things shared. A user is told of own jobs alone.
CREATE OR REPLACE FUNCTION job_neighbours(job text)
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
        -- As an array, which the view takes to its index; a join would read what all jobs ever used.
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
