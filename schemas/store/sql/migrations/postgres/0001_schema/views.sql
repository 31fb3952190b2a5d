-- Views, and the functions that they call. Views have the names of the embedded schema.

-- The word of a state's number, in the order of `State` in schemas/src/signal.rs.
CREATE FUNCTION tailback_state(state smallint) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
    RETURN (ARRAY['warmup', 'clear', 'contended', 'idle', 'unknown'])[state + 1];

CREATE VIEW signals AS
SELECT series_id, time, value, mean, baseline, bound, tailback_state(state) AS state, slowdown_s, ticks, passed_per_s, waited_per_s
FROM signal_rows;

-- Ten seconds of each series.
CREATE VIEW signals_10s AS
SELECT series_id, time, value, value_min, value_max, mean, baseline, ticks::bigint AS ticks,
       contended_ticks::bigint AS contended_ticks, slowdown_s
FROM signal_buckets;

-- Until when all minutes are written, including those of silent series, which end after a minute. It does not wait for a
-- partition that is behind by more than ten minutes. Without positions all written minutes count.
--
-- Declared immutable, which it is not: so it becomes a constant when a query is planned, which excludes chunks, and is
-- not called for each row. A cached plan has an older time, which is as right: it computes more from the ten seconds.
CREATE FUNCTION minutes_written_until() RETURNS timestamptz
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN coalesce((SELECT date_bin('1 minute', min(p.event_time) - interval '100 seconds', 'epoch')
                     FROM public.stage_positions p, public.clock c
                     WHERE p.stage = 'detector' AND p.event_time > c.now - interval '10 minutes'),
                    CASE WHEN EXISTS (SELECT FROM public.signal_minutes) THEN 'infinity' ELSE '-infinity' END::timestamptz);
END $$;

-- Tiers to read: the rows that are written, and the newest computed from the tier below. Minutes that are not written yet
-- are computed from the ten seconds, which have no counters.
CREATE VIEW signals_1min AS
SELECT series_id, time, value::double precision AS value, value_min, value_max, mean::double precision AS mean,
       baseline::double precision AS baseline, ticks::bigint AS ticks, contended_ticks::bigint AS contended_ticks, slowdown_s,
       passed_per_s, waited_per_s
FROM signal_minutes WHERE time < minutes_written_until()
UNION ALL
SELECT series_id, date_bin('1 minute', time, 'epoch'),
       sum(value * ticks) / nullif(sum(ticks) FILTER (WHERE value IS NOT NULL), 0),
       min(value_min) FILTER (WHERE ticks > 0), max(value_max) FILTER (WHERE ticks > 0),
       avg(mean) FILTER (WHERE ticks > 0), avg(baseline) FILTER (WHERE ticks > 0),
       sum(ticks), sum(contended_ticks),
       coalesce((array_agg(slowdown_s ORDER BY time DESC) FILTER (WHERE ticks > 0))[1], max(slowdown_s)),
       NULL, NULL
FROM signal_buckets WHERE time >= minutes_written_until() GROUP BY 1, 2;

CREATE VIEW signals_1h AS
SELECT series_id, time, value::double precision AS value, value_min, value_max, mean::double precision AS mean,
       baseline::double precision AS baseline, ticks::bigint AS ticks, contended_ticks::bigint AS contended_ticks, slowdown_s,
       passed_per_s, waited_per_s
FROM signal_hours WHERE time < date_bin('1 hour', minutes_written_until(), 'epoch')
UNION ALL
SELECT series_id, date_bin('1 hour', time, 'epoch'),
       sum(value * ticks) / nullif(sum(ticks) FILTER (WHERE value IS NOT NULL), 0),
       min(value_min) FILTER (WHERE ticks > 0), max(value_max) FILTER (WHERE ticks > 0),
       avg(mean) FILTER (WHERE ticks > 0), avg(baseline) FILTER (WHERE ticks > 0),
       sum(ticks)::bigint, sum(contended_ticks)::bigint,
       coalesce((array_agg(slowdown_s ORDER BY time DESC) FILTER (WHERE ticks > 0))[1], max(slowdown_s)),
       (sum(passed_per_s * ticks) / nullif(sum(ticks) FILTER (WHERE passed_per_s IS NOT NULL), 0))::real,
       (sum(waited_per_s * ticks) / nullif(sum(ticks) FILTER (WHERE waited_per_s IS NOT NULL), 0))::real
FROM signals_1min WHERE time >= date_bin('1 hour', minutes_written_until(), 'epoch') GROUP BY 1, 2;

-- Sums of places by tier. Minutes and hours are kept by `roll_up`, the newest hours and the ten seconds computed when they are read;
-- TimescaleDB aggregates all three. A series that is contended in two of six ten seconds counts in both: a minute has the most of them at once.
CREATE VIEW places_10s AS
SELECT kind, name, metric, time, sum(series)::bigint AS series, sum(contended_series)::bigint AS contended_series,
       sum(ticks)::bigint AS ticks, sum(contended_ticks)::bigint AS contended_ticks, sum(value_sum) AS value_sum,
       max(value_max)::double precision AS value_max
FROM place_buckets GROUP BY 1, 2, 3, 4;

CREATE VIEW places_1min AS
SELECT kind, name, metric, time, series::bigint AS series, contended_series::bigint AS contended_series, ticks, contended_ticks,
       value_sum, value_max
FROM place_minutes;

-- Until when hours of places are kept. Declared immutable for the reason of `minutes_written_until`.
CREATE FUNCTION place_hours_until() RETURNS timestamptz
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN coalesce((SELECT hours_until FROM public.roll_up_progress), '-infinity');
END $$;

CREATE VIEW places_1h AS
SELECT kind, name, metric, time, series::bigint AS series, contended_series::bigint AS contended_series, ticks, contended_ticks,
       value_sum, value_max
FROM place_hours WHERE time < place_hours_until()
UNION ALL
SELECT kind, name, metric, date_bin('1 hour', time, 'epoch'), max(series), max(contended_series), sum(ticks)::bigint,
       sum(contended_ticks)::bigint, avg(value_sum), max(value_max)
FROM places_1min WHERE time >= place_hours_until() GROUP BY 1, 2, 3, 4;

-- The newest event time.
CREATE VIEW clock AS SELECT max(event_time) AS now FROM stage_positions;

-- The same, declared immutable, which it is not: so it becomes a constant when a query is planned, which excludes older
-- chunks. For queries that are planned each time, as those of the page; elsewhere use the view `clock`.
CREATE FUNCTION latest_time() RETURNS timestamptz
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN (SELECT c.now FROM public.clock c);
END $$;

-- The latest row of each series within 20 s of event time: a quiet series writes one row in ten seconds, which
-- leaves ten for lateness and commits. A series without one is listed as unknown, without values.
CREATE VIEW series_now AS
SELECT s.series_id, s.name, s.metric, s.component, s.part, l.time, l.value, l.mean, l.baseline, l.bound,
       coalesce(tailback_state(l.state), 'unknown') AS state, l.slowdown_s
FROM series s LEFT JOIN (
    SELECT DISTINCT ON (r.series_id) r.time, r.slowdown_s, r.series_id, r.value, r.mean, r.baseline, r.bound, r.state, r.ticks
    FROM signal_rows r
    WHERE r.time > (SELECT now - interval '20 seconds' FROM clock)
    ORDER BY r.series_id, r.time DESC
) l USING (series_id);

CREATE VIEW series_episodes AS
SELECT e.source_partition, e.id, s.name AS series, s.metric, s.component, s.part, e.start_time, e.end_time, e.open,
       extract(epoch FROM e.end_time - e.start_time)::double precision AS duration_s, e.peak, e.baseline,
       e.slowdown_s, e.slowdown_lo_s, e.slowdown_hi_s, e.completeness, e.causes
FROM episodes e JOIN series s USING (series_id);

CREATE VIEW dropped_rows AS SELECT reason, sum(count)::bigint AS count FROM dropped_counts GROUP BY reason;

-- The group of an Aries router or cabinet by its cname: two cabinets of six chassis; null for other names. One expression
-- of immutable parts: the planner puts it into the query, where calling it cost a tenth of a millisecond for each name.
CREATE FUNCTION aries_group(component text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN component ~ '^c\d{1,6}-\d{1,6}c\d+s\d+' THEN
        'c' || (substring(component, '^c(\d+)')::integer / 2 * 2)::text || substring(component, '^c\d+(-\d+)')
        || '..c' || (substring(component, '^c(\d+)')::integer / 2 * 2 + 1)::text || substring(component, '^c\d+(-\d+)') END
$$;

-- Seconds of a multirange.
CREATE FUNCTION seconds_of(stretches tstzmultirange) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(sum(extract(epoch FROM upper(r) - lower(r))), 0)::double precision FROM unnest(stretches) AS r
$$;

-- A row for each part that reported, and for each expected source that never did. Without a site file each source that
-- reported once is expected. A part that is silent while others of its source report is `absent`, as an unmounted file system is.
-- One that reports events alone, as of jobs, and had none yet is `on event`.
-- One that was absent for a week, or silent so long and not in the site file, counts as taken out of service.
CREATE VIEW sources AS
SELECT o.producer, o.schema, o.component, o.in_site_file, o.event_driven, o.last_time, o.silent_since,
       CASE WHEN o.last_time IS NULL AND o.event_driven THEN 'on event'
            WHEN o.last_time IS NULL THEN 'never seen'
            WHEN o.silent_since IS NULL THEN 'reports'
            WHEN o.silent_since < (SELECT max(last_time) FROM producers) - interval '7 days'
                 AND (o.others_report OR NOT o.in_site_file) THEN 'gone'
            WHEN o.others_report THEN 'absent'
            ELSE 'silent' END AS state,
       o.part
FROM (
    SELECT producer, schema, component, coalesce(p.part, '') AS part, e.copies IS NOT NULL AS in_site_file,
           coalesce(e.event_driven, p.of_events, false) AS event_driven, p.last_time, s.from_time AS silent_since,
           bool_or(p.last_time IS NOT NULL AND s.from_time IS NULL) OVER (PARTITION BY producer, schema, component)
               AS others_report
    FROM expected_sources e
    FULL JOIN (SELECT producer, schema, component, part, last_time, false AS of_events FROM producers
               UNION ALL
               SELECT producer, schema, component, '', last_time, true FROM event_sources) p
           USING (producer, schema, component)
    LEFT JOIN (SELECT producer, schema, component, part, max(from_time) AS from_time FROM silences
               WHERE until_time IS NULL GROUP BY 1, 2, 3, 4) s
           USING (producer, schema, component, part)
) o;

-- Share of the data that is present between two times, 0 to 1: of every producer (`node`), of reported components
-- (`component`: time is missing when all its producers of a schema miss it at once), of Aries groups and of the system.
-- A source misses the time that all its parts miss at once. Completeness of jobs is in `job_results`.
CREATE FUNCTION completeness(since timestamptz, until timestamptz)
    RETURNS TABLE (kind text, name text, sources bigint, silent_now bigint, completeness double precision)
    LANGUAGE sql STABLE PARALLEL SAFE AS $$
    WITH span AS (
        SELECT tstzrange(since, until) AS range, extract(epoch FROM until - since)::double precision AS seconds
    ), stretches AS (
        SELECT s.producer, s.schema, s.component, s.part,
               range_agg(span.range * tstzrange(s.from_time, greatest(s.from_time, coalesce(s.until_time, 'infinity')))) AS missing
        FROM silences s, span
        WHERE s.from_time < until AND coalesce(s.until_time, 'infinity') > since
        GROUP BY 1, 2, 3, 4
    ), each_source AS (
        SELECT o.producer, o.schema, o.component, bool_and(o.state IN ('silent', 'never seen')) AS is_silent,
               range_intersect_agg(CASE WHEN o.state = 'never seen' THEN tstzmultirange(span.range)
                                        ELSE coalesce(m.missing, '{}'::tstzmultirange) END) AS missing
        FROM sources o CROSS JOIN span LEFT JOIN stretches m USING (producer, schema, component, part)
        WHERE o.state <> 'gone' AND NOT o.event_driven GROUP BY 1, 2, 3
    ), of_schema AS (
        SELECT component, schema, count(*) AS sources, count(*) FILTER (WHERE is_silent) AS silent_now,
               seconds_of(range_intersect_agg(missing)) AS missing_s
        FROM each_source GROUP BY 1, 2
    ), of_component AS (
        SELECT component, sum(sources)::bigint AS sources, sum(silent_now)::bigint AS silent_now,
               avg(1 - missing_s / span.seconds) AS completeness
        FROM of_schema, span GROUP BY 1
    )
    SELECT 'node', producer, count(*), count(*) FILTER (WHERE is_silent), avg(1 - seconds_of(missing) / span.seconds)
    FROM each_source, span GROUP BY producer
    UNION ALL
    SELECT 'component', component, sources, silent_now, completeness FROM of_component
    UNION ALL
    SELECT 'group', aries_group(component), sum(sources)::bigint, sum(silent_now)::bigint, avg(completeness)
    FROM of_component WHERE aries_group(component) IS NOT NULL GROUP BY 2
    UNION ALL
    SELECT 'system', '', sum(sources)::bigint, sum(silent_now)::bigint, avg(completeness) FROM of_component
    HAVING count(*) > 0
$$;

-- Switches and groups of nodes. A producer that reports an Aries router is connected to it.
CREATE VIEW node_places WITH (security_barrier = true) AS
SELECT node, switch, nullif(group_name, '') AS group_name FROM node_switches
UNION
SELECT p.producer, p.component, g.group_name
FROM producers p CROSS JOIN LATERAL (SELECT aries_group(p.component) AS group_name OFFSET 0) g -- OFFSET: computed once for each
WHERE p.component <> p.producer AND g.group_name IS NOT NULL
  AND NOT EXISTS (SELECT FROM node_switches n WHERE n.node = p.producer);

-- Whether the caller may see the jobs of all users. A body of this form is bound at creation, so that no search path can
-- change it.
CREATE FUNCTION tailback_sees_all() RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN pg_catalog.pg_has_role(current_user, 'tailback_reader', 'USAGE')
        OR pg_catalog.pg_has_role(current_user, 'tailback_writer', 'USAGE')
        OR pg_catalog.pg_has_role(current_user, (SELECT relowner FROM pg_catalog.pg_class
                                                 WHERE oid = 'public.jobs'::regclass), 'USAGE');

-- The following views have the rights of their owner, and restrict jobs themselves to those of the login.

-- Jobs with the latest known time of their runs.
CREATE VIEW job_runs WITH (security_barrier = true) AS
SELECT j.job_id, j.start_time, coalesce(j.end_time, greatest((SELECT now FROM clock), j.start_time)) AS until_time
FROM jobs j WHERE j.user_name = session_user OR (SELECT tailback_sees_all());

-- Regions in which an own job waits, or to whose load it contributes.
CREATE VIEW own_regions WITH (security_barrier = true) AS
SELECT v.region_id FROM region_victims v JOIN jobs j USING (job_id) WHERE j.user_name = session_user
UNION
SELECT c.region_id FROM region_causes c JOIN jobs j ON j.job_id = c.series_or_job WHERE j.user_name = session_user;

-- Hides names of other users' jobs: only a series or an own job is named.
CREATE VIEW region_causes_shown WITH (security_barrier = true) AS
SELECT c.region_id, c.position, c.cause,
       CASE WHEN c.series_or_job = '' OR (SELECT tailback_sees_all())
                OR EXISTS (SELECT FROM series s WHERE s.name = c.series_or_job)
                OR EXISTS (SELECT FROM jobs j WHERE j.job_id = c.series_or_job AND j.user_name = session_user)
            THEN c.series_or_job ELSE 'another job' END AS series_or_job,
       c.share, c.confidence, c.evidence
FROM region_causes c
WHERE (SELECT tailback_sees_all()) OR c.region_id IN (SELECT o.region_id FROM own_regions o);

CREATE VIEW job_causes_shown WITH (security_barrier = true) AS
SELECT c.job_id, c.position, c.cause, c.kind,
       CASE WHEN c.series_or_job = '' OR (SELECT tailback_sees_all())
                OR EXISTS (SELECT FROM series s WHERE s.name = c.series_or_job)
                OR EXISTS (SELECT FROM jobs j WHERE j.job_id = c.series_or_job AND j.user_name = session_user)
            THEN c.series_or_job ELSE 'another job' END AS series_or_job,
       c.share
FROM job_causes c JOIN job_runs r USING (job_id);

-- Seconds that an episode lost up to a time, by linear interpolation of its profile. Point by point: a query over so few
-- points takes longer to set up than to run.
CREATE FUNCTION episode_loss_until(start_time timestamptz, profile jsonb, slowdown_s double precision,
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

-- Episodes of a job's series during its run, and the part of their loss within it. Causes are left out: they name jobs.
-- Only episodes that cross an edge of the run need their profile read, and their row with it.
CREATE VIEW job_episodes WITH (security_barrier = true) AS
SELECT r.job_id, e.source_partition, e.id, e.series_id, greatest(e.start_time, r.start_time) AS from_time,
       least(e.end_time, r.until_time) AS until_time, e.open, e.peak, e.baseline,
       e.share * e.slowdown_s AS lost_s, e.share * e.slowdown_lo_s AS lost_lo_s,
       e.share * e.slowdown_hi_s AS lost_hi_s, e.completeness
FROM job_runs r JOIN job_series js USING (job_id)
CROSS JOIN LATERAL (
    -- A seek for each series, whatever the planner expects their number to be: OFFSET keeps it from reading all episodes,
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

-- Names of the series and mounts that jobs use.
CREATE VIEW job_resources WITH (security_barrier = true) AS
SELECT js.job_id, s.series_id, s.name AS series, s.metric, s.component, s.part
FROM job_series js JOIN series s USING (series_id) JOIN job_runs r USING (job_id);

-- A job's result and factors. With the rights of the caller, so that the row policies apply.
CREATE VIEW job_slowdown WITH (security_invoker = true) AS
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

-- What each job cost: seconds and node-hours lost, with the ends of the 95% interval. All sums of losses of jobs are sums of
-- these rows. The ends of a sum are the sums of the ends: errors of jobs on one file system or network are not independent,
-- so nothing is gained by adding many. A job whose result is not known has no row. With the rights of the caller.
CREATE VIEW job_costs WITH (security_invoker = true) AS
SELECT c.job_id, c.start_time, c.until_time, c.run_s, c.nodes, c.lost_s, c.lost_lo_s, c.lost_hi_s,
       c.lost_s * c.nodes / 3600 AS lost_node_hours, c.lost_lo_s * c.nodes / 3600 AS lost_lo_node_hours,
       c.lost_hi_s * c.nodes / 3600 AS lost_hi_node_hours, c.judged, c.completeness, c.end_time
FROM (
    SELECT j.job_id, j.start_time, j.end_time, coalesce(j.end_time, greatest((SELECT now FROM clock), j.start_time)) AS until_time,
           date_part('epoch', coalesce(j.end_time, greatest((SELECT now FROM clock), j.start_time)) - j.start_time) AS run_s,
           coalesce(n.nodes, 0) AS nodes, r.slowdown_s AS lost_s,
           r.slowdown_lo_s AS lost_lo_s, r.slowdown_hi_s AS lost_hi_s, r.judged, r.completeness
    FROM jobs j JOIN job_results r USING (job_id) LEFT JOIN job_sizes n USING (job_id)
) c;

-- The shares of causes in a job's cost; what has no known cause is `unknown`, so that they sum to 1.
CREATE VIEW job_cost_shares WITH (security_invoker = true) AS
SELECT c.job_id, c.cause, sum(c.share) AS share FROM job_causes c WHERE c.cause <> 'unknown' GROUP BY 1, 2
UNION ALL
SELECT r.job_id, 'unknown',
       greatest(0, 1 - coalesce((SELECT sum(c.share) FROM job_causes c WHERE c.job_id = r.job_id AND c.cause <> 'unknown'), 0))
FROM job_results r;

-- Runs are compared within one configuration only: a changed parameter of MPI costs time too (Jha 2017). The signature
-- from the site is the best name of it, the job's name the next best.
CREATE FUNCTION job_configuration(app text, name text, nodes bigint) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('%s on %s nodes', coalesce(nullif($1, ''), nullif($2, ''), 'unnamed'), $3)
$$;

-- Finished runs with enough data to learn from.
CREATE VIEW learnable_runs AS
SELECT j.job_id, job_configuration(j.app, j.name, n.nodes) AS configuration, j.end_time, n.groups,
       extract(epoch FROM j.end_time - j.start_time)::double precision AS run_s, r.slowdown_s
FROM jobs j JOIN job_results r USING (job_id) CROSS JOIN LATERAL (
    SELECT count(*) AS nodes, count(DISTINCT p.group_name) AS groups
    FROM job_nodes m LEFT JOIN node_places p USING (node) WHERE m.job_id = j.job_id
) n
WHERE j.end_time IS NOT NULL AND NOT j.end_presumed AND j.end_time > j.start_time AND r.completeness >= 0.6;

-- Of each job the progress that its reports cover best.
CREATE VIEW job_measured AS
SELECT DISTINCT ON (p.job_id) p.job_id, p.name, p.lost_s, p.lost_lo_s, p.lost_hi_s, p.cost, p.cost_lo, p.cost_hi
FROM job_progress p WHERE p.state = 'measured' ORDER BY p.job_id, p.covered_s DESC, p.name;

CREATE VIEW alerts AS
SELECT incident, rule, severity, subject, state, to_timestamp(started_s) AS started, to_timestamp(fired_s) AS fired,
       to_timestamp(resolved_s) AS resolved, to_timestamp(valid_until_s) AS advice_until, action, summary,
       notice::jsonb AS notice
FROM alert_incidents;

-- Tailback's own condition: each value beside its limit. `dropped_share` is in `tailback doctor` alone, which reads rows.
CREATE VIEW monitor_health AS
SELECT l.name, v.label, v.value, l.above, CASE WHEN v.value > l.above THEN 'exceeded' ELSE 'within' END AS state, l.meaning
FROM health_limits l JOIN (
    SELECT 'data_age_s' AS name, '' AS label, extract(epoch FROM now() - (SELECT now FROM clock))::double precision AS value
    UNION ALL
    SELECT 'lag_s', stage, max(extract(epoch FROM committed_at - event_time))::double precision
    FROM stage_positions WHERE event_time IS NOT NULL GROUP BY stage
    UNION ALL
    SELECT 'backlog_messages', stage, messages FROM stage_backlog WHERE measured_at > now() - interval '5 minutes'
    UNION ALL
    SELECT 'stalled_s', stage, max(extract(epoch FROM now() - committed_at))::double precision
    FROM stage_positions WHERE owner IS NOT NULL GROUP BY stage
    UNION ALL
    SELECT 'silent_share', '', count(*) FILTER (WHERE state IN ('silent', 'never seen'))::double precision / nullif(count(*), 0)
    FROM sources WHERE state <> 'gone' AND NOT event_driven
    UNION ALL
    SELECT 'dropped_rows', '', coalesce(sum(greatest(0, d.newest - d.oldest)), 0)
    FROM (SELECT max(value) AS newest, min(value) AS oldest FROM health_minutes
          WHERE figure = 'dropped_rows' AND label NOT IN ('duplicate', 'standby')
            AND time > (SELECT now FROM clock) - interval '10 minutes'
          GROUP BY label) d
    UNION ALL
    SELECT 'rejected_messages', '', count(*) FROM rejected_messages WHERE time > now() - interval '10 minutes'
    UNION ALL
    SELECT 'waiting_notices', receiver, count(*) FROM alert_outbox WHERE state = 'waiting' GROUP BY receiver
) v USING (name)
WHERE v.value IS NOT NULL;
