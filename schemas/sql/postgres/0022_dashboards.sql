-- What dashboards read beside the answers: the tier that fits a span of time, links by class, and figures of groups and
-- file systems that are summed once a minute instead of at each look.

-- Compiling a plan takes seconds where it has many chunks, and saves milliseconds: all answers are short. Whoever is not
-- the owner of the database may set it by hand.
DO $$ BEGIN
    EXECUTE format('ALTER DATABASE %I SET jit = off', current_database());
EXCEPTION WHEN insufficient_privilege THEN
    RAISE WARNING 'jit stays on: only the owner of the database may turn it off';
END $$;

-- For how long each tier is kept; null is for ever. `tailback migrate` writes what the configuration says.
CREATE TABLE tier_retention (
    tier     text PRIMARY KEY,              -- raw, 10s, 1min, 1h
    kept_for interval
);
INSERT INTO tier_retention VALUES ('raw', '14 days'), ('10s', '60 days'), ('1min', '400 days'), ('1h', NULL);

-- Signals of a span in the tier that fits: the coarsest that still has a row for each step, and none that was expired at
-- the begin of the span. The steps are compared while the query is planned: only tables that are read are in the plan.
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

-- Which link a series measures, as the topology says. Of several groups of parallel links that a link is in, the largest.
CREATE TABLE link_places (
    series      text PRIMARY KEY,
    class       text NOT NULL,              -- host, leaf, spine, local, global, green, black, blue, other
    from_name   text NOT NULL,              -- transmitting end
    to_name     text NOT NULL,
    bundle      text NOT NULL,              -- parallel links among which routing may choose; '' for none
    bytes_per_s double precision            -- capacity; null where nobody told it
);
CREATE INDEX link_places_by_bundle ON link_places (bundle) WHERE bundle <> '';

-- The group of each component: from its name, or from the switch that it is or hangs on; '' where it is not known.
CREATE TABLE component_places (
    metric     text NOT NULL,
    component  text NOT NULL,
    group_name text NOT NULL,
    PRIMARY KEY (metric, component)
);
CREATE INDEX component_places_by_group ON component_places (group_name);

-- A row for each group, file system and class of links, metric and minute of event time.
CREATE TABLE place_minutes (
    kind             text NOT NULL,         -- group, file system, link class
    name             text NOT NULL,
    metric           text NOT NULL,
    time             timestamptz NOT NULL,  -- start of the minute
    series           integer NOT NULL,      -- with data
    contended_series integer NOT NULL,      -- contended at some tick
    ticks            bigint NOT NULL,
    contended_ticks  bigint NOT NULL,
    value_sum        double precision,      -- sum over series of their mean readings: bytes/s of a whole file system
    value_max        double precision,      -- largest reading
    PRIMARY KEY (kind, name, metric, time)
);
CREATE INDEX place_minutes_by_time ON place_minutes (kind, time);

-- A row for each component, metric and hour.
CREATE TABLE component_hours (
    metric          text NOT NULL,
    component       text NOT NULL,
    time            timestamptz NOT NULL,   -- start of the hour
    series          integer NOT NULL,
    ticks           bigint NOT NULL,
    contended_ticks bigint NOT NULL,
    value_sum       double precision,
    value_max       double precision,
    PRIMARY KEY (metric, component, time)
);

-- The same by minute, for seven hours: a group's switches have thousands of links.
CREATE TABLE component_minutes (
    metric          text NOT NULL,
    component       text NOT NULL,
    time            timestamptz NOT NULL,   -- start of the minute
    ticks           bigint NOT NULL,
    contended_ticks bigint NOT NULL,
    PRIMARY KEY (metric, component, time)
);
CREATE INDEX component_minutes_by_time ON component_minutes USING brin (time);

-- What Tailback says of itself, minute by minute of event time.
CREATE TABLE health_minutes (
    figure text NOT NULL,                   -- lag_s, dropped_rows, silent_sources, sources, database_bytes
    label  text NOT NULL,                   -- stage or reason; '' where there is one alone
    time   timestamptz NOT NULL,
    value  double precision NOT NULL,
    PRIMARY KEY (figure, label, time)
);

-- How far the sums are.
CREATE TABLE roll_up_progress (
    minutes_until timestamptz,
    hours_until   timestamptz
);
INSERT INTO roll_up_progress VALUES (NULL, NULL);

CREATE FUNCTION roll_up_minutes(from_time timestamptz, until_time timestamptz) RETURNS void
    LANGUAGE sql SET search_path = public, pg_temp SET jit = off AS $$
    WITH each_series AS MATERIALIZED (
        SELECT b.series_id, date_bin('1 minute', b.time, 'epoch') AS time, sum(b.ticks) AS ticks,
               sum(b.contended_ticks) AS contended_ticks, max(b.value_max) AS value_max,
               sum(b.value::double precision * b.ticks) / nullif(sum(b.ticks) FILTER (WHERE b.value IS NOT NULL), 0) AS value
        FROM signal_buckets b WHERE b.time >= $1 AND b.time < $2 GROUP BY 1, 2
    ), components AS (
        INSERT INTO component_minutes
        SELECT s.metric, s.component, e.time, sum(e.ticks), sum(e.contended_ticks)
        FROM each_series e JOIN series s USING (series_id)
        WHERE e.time >= (SELECT now - interval '7 hours' FROM clock) GROUP BY 1, 2, 3
        ON CONFLICT (metric, component, time) DO UPDATE SET ticks = excluded.ticks,
            contended_ticks = excluded.contended_ticks
    ), placed AS (
        SELECT 'group' AS kind, p.group_name AS name, s.series_id, s.metric
        FROM series s JOIN component_places p USING (metric, component)
        UNION ALL
        SELECT 'file system', s.part, s.series_id, s.metric FROM series s
        WHERE s.metric = 'lustre_write_rate' AND s.part IS NOT NULL
        UNION ALL
        SELECT 'link class', l.class, s.series_id, s.metric FROM series s JOIN link_places l ON l.series = s.name
    )
    INSERT INTO place_minutes
    SELECT p.kind, p.name, p.metric, e.time, count(*), count(*) FILTER (WHERE e.contended_ticks > 0), sum(e.ticks),
           sum(e.contended_ticks), sum(e.value), max(e.value_max)
    FROM each_series e JOIN placed p USING (series_id) GROUP BY 1, 2, 3, 4
    ON CONFLICT (kind, name, metric, time) DO UPDATE SET series = excluded.series,
        contended_series = excluded.contended_series, ticks = excluded.ticks, contended_ticks = excluded.contended_ticks,
        value_sum = excluded.value_sum, value_max = excluded.value_max
$$;

CREATE FUNCTION roll_up_hours(from_time timestamptz, until_time timestamptz) RETURNS void
    LANGUAGE sql SET search_path = public, pg_temp SET jit = off AS $$
    INSERT INTO component_hours
    SELECT s.metric, s.component, h.time, count(*), sum(h.ticks), sum(h.contended_ticks), sum(h.value), max(h.value_max)
    FROM signals_1h h JOIN series s USING (series_id) WHERE h.time >= $1 AND h.time < $2 GROUP BY 1, 2, 3
    ON CONFLICT (metric, component, time) DO UPDATE SET series = excluded.series, ticks = excluded.ticks,
        contended_ticks = excluded.contended_ticks, value_sum = excluded.value_sum, value_max = excluded.value_max
$$;

-- Groups may come to be known later than the series.
CREATE FUNCTION place_components() RETURNS void
    LANGUAGE sql SET search_path = public, pg_temp SET jit = off AS $$
    INSERT INTO component_places AS c
    SELECT s.metric, s.component, coalesce(aries_group(s.component), w.group_name, n.group_name, '')
    FROM (SELECT DISTINCT metric, component FROM series) s
    LEFT JOIN (SELECT switch, min(nullif(group_name, '')) AS group_name FROM node_switches GROUP BY 1) w
           ON w.switch = s.component
    LEFT JOIN (SELECT node, min(group_name) AS group_name FROM node_places GROUP BY 1) n ON n.node = s.component
    ON CONFLICT (metric, component) DO UPDATE SET group_name = excluded.group_name
    WHERE c.group_name <> excluded.group_name
$$;

CREATE FUNCTION tell_health(at_time timestamptz) RETURNS void
    LANGUAGE sql SET search_path = public, pg_temp SET jit = off AS $$
    INSERT INTO health_minutes
    SELECT f.figure, f.label, date_bin('1 minute', $1, 'epoch'), f.value FROM (
        SELECT 'lag_s' AS figure, p.stage AS label,
               max(extract(epoch FROM p.committed_at - p.event_time))::double precision AS value
        FROM stage_positions p WHERE p.event_time IS NOT NULL GROUP BY 1, 2
        UNION ALL
        SELECT 'dropped_rows', d.reason, d.count FROM dropped_rows d
        UNION ALL
        SELECT 'silent_sources', '', count(*) FILTER (WHERE s.state IN ('silent', 'never heard')) FROM sources s
        UNION ALL
        SELECT 'sources', '', count(*) FILTER (WHERE s.state <> 'gone') FROM sources s
        UNION ALL
        SELECT 'database_bytes', '', pg_database_size(current_database())
    ) f
    ON CONFLICT (figure, label, time) DO UPDATE SET value = excluded.value
$$;

-- Sums up what is new, an hour at most; true when more is due. Minutes that ended 20 s before the slowest partition's
-- latest signal are complete; one that is behind by more than ten minutes is not waited for. The last three minutes are
-- summed again, for rows that came late.
CREATE FUNCTION roll_up() RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    done roll_up_progress;
    first timestamptz;
    due timestamptz;
    until timestamptz;
BEGIN
    -- One at a time: whoever comes second has nothing to do.
    IF NOT pg_try_advisory_xact_lock(x'74625f726f6c6c'::bigint) THEN RETURN false; END IF;
    SELECT * INTO done FROM roll_up_progress;
    SELECT date_bin('1 minute', min(event_time) - interval '20 seconds', 'epoch') INTO due
    FROM stage_positions, clock WHERE event_time > clock.now - interval '10 minutes';
    IF due IS NULL THEN RETURN false; END IF;
    PERFORM place_components();
    PERFORM tell_health(due);
    IF done.minutes_until IS NULL THEN
        SELECT date_bin('1 minute', min(time), 'epoch') INTO first FROM signal_buckets;
    ELSE
        first := done.minutes_until - interval '3 minutes';
    END IF;
    IF first IS NULL OR due <= coalesce(done.minutes_until, first) THEN RETURN false; END IF;
    until := least(due, coalesce(done.minutes_until, first) + interval '1 hour');
    PERFORM roll_up_minutes(first, until);
    UPDATE roll_up_progress SET minutes_until = until;
    -- Of an hour the coarse tier is whole some minutes later.
    IF date_bin('1 hour', until - interval '5 minutes', 'epoch') > coalesce(done.hours_until, first) THEN
        PERFORM roll_up_hours(coalesce(done.hours_until, date_bin('1 hour', first, 'epoch')),
                              date_bin('1 hour', until - interval '5 minutes', 'epoch'));
        UPDATE roll_up_progress SET hours_until = date_bin('1 hour', until - interval '5 minutes', 'epoch');
        DELETE FROM component_minutes WHERE time < (SELECT now - interval '7 hours' FROM clock);
        DELETE FROM place_minutes WHERE time < (SELECT now() - kept_for FROM tier_retention WHERE tier = '1min');
        DELETE FROM health_minutes WHERE time < (SELECT now() - kept_for FROM tier_retention WHERE tier = '1min');
    END IF;
    RETURN until < due;
END $$;

-- How the loss of a job grew: seconds lost from its start until each of so many times. Episodes of several series overlap,
-- and a job waits once for all of them: the shape is theirs, the height is the job's result. Within an episode the loss
-- is taken to grow evenly.
CREATE FUNCTION job_loss_curve(job text, points integer DEFAULT 200)
    RETURNS TABLE (at_time timestamptz, lost_s double precision, lost_lo_s double precision, lost_hi_s double precision)
    LANGUAGE sql STABLE SET search_path = public, pg_temp SET jit = off AS $$
    WITH run AS (
        SELECT r.job_id, r.start_time, r.until_time, extract(epoch FROM r.until_time - r.start_time) / greatest($2, 1) AS step_s,
               j.slowdown_s, j.slowdown_lo_s, j.slowdown_hi_s
        FROM job_runs r LEFT JOIN job_results j USING (job_id)
        WHERE r.job_id = job_named($1) AND r.until_time > r.start_time
    ), parts AS (
        SELECT k AS step, sum(e.lost_s * CASE WHEN e.until_time > e.from_time THEN
                   extract(epoch FROM least(e.until_time, r.start_time + make_interval(secs => r.step_s * k))
                           - greatest(e.from_time, r.start_time + make_interval(secs => r.step_s * (k - 1))))
                   / extract(epoch FROM e.until_time - e.from_time) ELSE 1 END) AS lost_s
        FROM run r JOIN job_episodes e USING (job_id) CROSS JOIN LATERAL generate_series(
            greatest(1, ceil(extract(epoch FROM e.from_time - r.start_time) / r.step_s))::integer,
            greatest(1, ceil(extract(epoch FROM e.until_time - r.start_time) / r.step_s))::integer) AS k
        WHERE e.lost_s > 0 AND e.job_id = job_named($1) GROUP BY 1
    ), grown AS (
        SELECT k AS step, sum(coalesce(p.lost_s, 0)) OVER (ORDER BY k)
                          / nullif(sum(coalesce(p.lost_s, 0)) OVER (), 0) AS share
        FROM generate_series(0, greatest($2, 1)) AS k LEFT JOIN parts p ON p.step = k
    )
    SELECT r.start_time + make_interval(secs => r.step_s * g.step), coalesce(g.share, 0) * r.slowdown_s,
           coalesce(g.share, 0) * r.slowdown_lo_s, coalesce(g.share, 0) * r.slowdown_hi_s
    FROM run r CROSS JOIN grown g ORDER BY g.step
$$;

-- Size of the tables, and where they are compressed, what they would take without. 0023 knows TimescaleDB's.
CREATE FUNCTION storage_sizes()
    RETURNS TABLE (name text, bytes bigint, uncompressed_bytes bigint, compressed_bytes bigint)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT c.relname::text, pg_total_relation_size(c.oid), NULL::bigint, NULL::bigint
    FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' ORDER BY 2 DESC
$$;

GRANT SELECT ON tier_retention, link_places, component_places, place_minutes, component_hours,
    component_minutes, health_minutes,
    roll_up_progress TO tailback_writer, tailback_reader;
GRANT INSERT, UPDATE, DELETE ON link_places TO tailback_writer;
REVOKE EXECUTE ON FUNCTION roll_up_minutes, roll_up_hours, place_components, tell_health, roll_up, signals_over,
    storage_sizes, job_loss_curve FROM PUBLIC;
GRANT EXECUTE ON FUNCTION roll_up TO tailback_writer;
GRANT EXECUTE ON FUNCTION signals_over, storage_sizes, job_loss_curve TO tailback_writer, tailback_reader;
GRANT EXECUTE ON FUNCTION job_loss_curve TO tailback_user;
