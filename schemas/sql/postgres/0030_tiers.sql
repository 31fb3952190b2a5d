-- Minutes and hours are written by the detector, as the ten seconds are. An aggregate over the ten seconds reads and inserts
-- a whole minute of all series at once, for which signals then wait, and has a trigger on their table, with which COPY cannot
-- write to the columnstore.

CREATE TABLE signal_minutes (
    time            timestamptz NOT NULL,   -- start of the minute
    slowdown_s      double precision NOT NULL, -- accumulated at the last tick with data
    series_id       integer NOT NULL,
    value           real,                   -- mean over the ticks
    value_min       real,
    value_max       real,
    mean            real,                   -- mean of the tier below
    baseline        real,
    ticks           integer NOT NULL,       -- ticks with data
    contended_ticks integer NOT NULL
);
CREATE TABLE signal_hours (LIKE signal_minutes);
CREATE INDEX signal_minutes_by_series ON signal_minutes (series_id, time);
CREATE INDEX signal_minutes_by_time ON signal_minutes USING brin (time) WITH (autosummarize = on);
CREATE INDEX signal_hours_by_series ON signal_hours (series_id, time);
CREATE INDEX signal_hours_by_time ON signal_hours USING brin (time) WITH (autosummarize = on);
GRANT SELECT ON signal_minutes, signal_hours TO tailback_writer, tailback_reader;
GRANT INSERT ON signal_minutes, signal_hours TO tailback_writer;

-- Where the tiers were views over the ten seconds, what they say goes into the tables. Of the minute and the hour that are not
-- over as well: the state in which they would be ended has another version now.
DO $$
BEGIN
    IF to_regclass('signals_1min') IS NOT NULL THEN
        INSERT INTO signal_minutes
        SELECT time, slowdown_s, series_id, value, value_min, value_max, mean, baseline, ticks, contended_ticks
        FROM signals_1min;
        INSERT INTO signal_hours
        SELECT time, slowdown_s, series_id, value, value_min, value_max, mean, baseline, ticks, contended_ticks
        FROM signals_1h;
    END IF;
END $$;
DROP VIEW IF EXISTS signals_1h;
DROP VIEW IF EXISTS signals_1min;

-- Until when all minutes are written, silent series too, which are given up after a minute. A partition that is behind by more
-- than ten minutes is not waited for. Without positions what is written is all there is.
--
-- Called immutable, which it is not: so it becomes a constant when a question is planned, by which chunks are left out, and is
-- not asked for each row. A plan that is kept has an older time, which is as right: more is made of the ten seconds.
CREATE FUNCTION minutes_written_until() RETURNS timestamptz
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN coalesce((SELECT date_bin('1 minute', min(p.event_time) - interval '100 seconds', 'epoch')
                     FROM public.stage_positions p, public.clock c
                     WHERE p.stage = 'detector' AND p.event_time > c.now - interval '10 minutes'),
                    CASE WHEN EXISTS (SELECT FROM public.signal_minutes) THEN 'infinity' ELSE '-infinity' END::timestamptz);
END $$;

-- The tiers to read: what is written, and the newest of it made from the tier below. A function, for 0031 has to do it again
-- where TimescaleDB came later.
CREATE FUNCTION tailback_tier_views() RETURNS void
    LANGUAGE plpgsql SET search_path = public, pg_temp AS $do$
BEGIN
    CREATE VIEW signals_1min AS
    SELECT series_id, time, value::double precision AS value, value_min, value_max, mean::double precision AS mean,
           baseline::double precision AS baseline, ticks::bigint AS ticks, contended_ticks::bigint AS contended_ticks, slowdown_s
    FROM signal_minutes WHERE time < minutes_written_until()
    UNION ALL
    SELECT series_id, date_bin('1 minute', time, 'epoch'),
           sum(value * ticks) / nullif(sum(ticks) FILTER (WHERE value IS NOT NULL), 0),
           min(value_min) FILTER (WHERE ticks > 0), max(value_max) FILTER (WHERE ticks > 0),
           avg(mean) FILTER (WHERE ticks > 0), avg(baseline) FILTER (WHERE ticks > 0),
           sum(ticks), sum(contended_ticks),
           coalesce((array_agg(slowdown_s ORDER BY time DESC) FILTER (WHERE ticks > 0))[1], max(slowdown_s))
    FROM signal_buckets WHERE time >= minutes_written_until() GROUP BY 1, 2;

    CREATE VIEW signals_1h AS
    SELECT series_id, time, value::double precision AS value, value_min, value_max, mean::double precision AS mean,
           baseline::double precision AS baseline, ticks::bigint AS ticks, contended_ticks::bigint AS contended_ticks, slowdown_s
    FROM signal_hours WHERE time < date_bin('1 hour', minutes_written_until(), 'epoch')
    UNION ALL
    SELECT series_id, date_bin('1 hour', time, 'epoch'),
           sum(value * ticks) / nullif(sum(ticks) FILTER (WHERE value IS NOT NULL), 0),
           min(value_min) FILTER (WHERE ticks > 0), max(value_max) FILTER (WHERE ticks > 0),
           avg(mean) FILTER (WHERE ticks > 0), avg(baseline) FILTER (WHERE ticks > 0),
           sum(ticks)::bigint, sum(contended_ticks)::bigint,
           coalesce((array_agg(slowdown_s ORDER BY time DESC) FILTER (WHERE ticks > 0))[1], max(slowdown_s))
    FROM signals_1min WHERE time >= date_bin('1 hour', minutes_written_until(), 'epoch') GROUP BY 1, 2;

    GRANT SELECT ON signals_1min, signals_1h TO tailback_writer, tailback_reader;
END $do$;
REVOKE EXECUTE ON FUNCTION tailback_tier_views FROM PUBLIC;
SELECT tailback_tier_views();

CREATE OR REPLACE FUNCTION roll_up_minutes(from_time timestamptz, until_time timestamptz) RETURNS void
    LANGUAGE sql SET search_path = public, pg_temp SET jit = off AS $$
    WITH each_series AS MATERIALIZED (
        SELECT m.series_id, m.time, m.ticks, m.contended_ticks, m.value_max::double precision AS value_max,
               m.value::double precision AS value
        FROM signal_minutes m WHERE m.time >= $1 AND m.time < $2
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

CREATE OR REPLACE FUNCTION roll_up_hours(from_time timestamptz, until_time timestamptz) RETURNS void
    LANGUAGE sql SET search_path = public, pg_temp SET jit = off AS $$
    INSERT INTO component_hours
    SELECT s.metric, s.component, h.time, count(*), sum(h.ticks), sum(h.contended_ticks), sum(h.value::double precision),
           max(h.value_max)
    FROM signal_hours h JOIN series s USING (series_id) WHERE h.time >= $1 AND h.time < $2 GROUP BY 1, 2, 3
    ON CONFLICT (metric, component, time) DO UPDATE SET series = excluded.series, ticks = excluded.ticks,
        contended_ticks = excluded.contended_ticks, value_sum = excluded.value_sum, value_max = excluded.value_max
$$;

-- Sums up what is new, an hour at most; true when more is due. Minutes that ended 30 s before the slowest partition's
-- latest signal are written; one that is behind by more than ten minutes is not waited for. Each minute is summed once
-- more three minutes later, for rows that came late and series that fell silent.
CREATE OR REPLACE FUNCTION roll_up() RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    late CONSTANT interval := interval '3 minutes';
    done roll_up_progress;
    first timestamptz;
    due timestamptz;
    until timestamptz;
    hours timestamptz;
    whole timestamptz;
BEGIN
    -- One at a time: whoever comes second has nothing to do.
    IF NOT pg_try_advisory_xact_lock(x'74625f726f6c6c'::bigint) THEN RETURN false; END IF;
    SELECT * INTO done FROM roll_up_progress;
    SELECT date_bin('1 minute', min(event_time) - interval '30 seconds', 'epoch') INTO due
    FROM stage_positions, clock WHERE event_time > clock.now - interval '10 minutes';
    IF due IS NULL THEN RETURN false; END IF;
    PERFORM place_components();
    PERFORM tell_health(due);
    IF done.minutes_until IS NULL THEN
        SELECT min(time) INTO first FROM signal_minutes;
    ELSE
        first := done.minutes_until;
    END IF;
    IF first IS NULL OR due <= first THEN RETURN false; END IF;
    until := least(due, first + interval '1 hour');
    PERFORM roll_up_minutes(first, until);
    IF done.minutes_until IS NOT NULL THEN
        PERFORM roll_up_minutes(first - late, least(first, until - late));
    END IF;
    -- The first hour that is summed is that of the oldest minute: one round alone hardly ever holds an end of an hour.
    hours := coalesce(done.hours_until, (SELECT date_bin('1 hour', min(time), 'epoch') FROM place_minutes),
                      date_bin('1 hour', first, 'epoch'));
    UPDATE roll_up_progress SET minutes_until = until, hours_until = hours;
    -- Of an hour the coarse tier is whole some minutes later.
    whole := date_bin('1 hour', until - interval '5 minutes', 'epoch');
    IF whole > hours THEN
        PERFORM roll_up_hours(hours, whole);
        UPDATE roll_up_progress SET hours_until = whole;
        DELETE FROM component_minutes WHERE time < (SELECT now - interval '7 hours' FROM clock);
        DELETE FROM place_minutes WHERE time < (SELECT now() - kept_for FROM tier_retention WHERE tier = '1min');
        DELETE FROM health_minutes WHERE time < (SELECT now() - kept_for FROM tier_retention WHERE tier = '1min');
    END IF;
    RETURN until < due;
END $$;

-- Deletes what lies before the given times, at most `slice` rows of each table; true when more is due. Where there is no
-- time, nothing goes. With the owner's rights: a writer deletes history in no other way. The one with fewer times stays until
-- 0031: where TimescaleDB comes later, 0010 would make it anew for everybody.
CREATE FUNCTION tailback_expire(raw_before timestamptz, tier_before timestamptz, minutes_before timestamptz,
                                hours_before timestamptz, ended_before timestamptz, slice integer DEFAULT 100000)
    RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    tier record;
    deleted bigint;
    more boolean := false;
BEGIN
    FOR tier IN SELECT * FROM (VALUES ('signal_rows', raw_before), ('signal_buckets', tier_before),
                                      ('signal_minutes', minutes_before), ('signal_hours', hours_before)) AS t (name, before)
    LOOP
        EXECUTE format('DELETE FROM %1$I WHERE ctid = ANY (ARRAY(SELECT ctid FROM %1$I WHERE time < $1 LIMIT $2))', tier.name)
            USING tier.before, slice;
        GET DIAGNOSTICS deleted = ROW_COUNT;
        more := more OR deleted = slice;
    END LOOP;
    RETURN tailback_expire_results(ended_before, slice) OR more;
END $$;
REVOKE EXECUTE ON FUNCTION tailback_expire(timestamptz, timestamptz, timestamptz, timestamptz, timestamptz, integer)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tailback_expire(timestamptz, timestamptz, timestamptz, timestamptz, timestamptz, integer)
    TO tailback_writer;
