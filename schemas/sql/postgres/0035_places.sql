-- Sums of groups, file systems, classes of links and of the whole machine come with the ten seconds that they are sums of, in the
-- same transaction, and no longer from a round over the minutes of all series. A commit holds a part of the series: parts of one
-- place and time add up.

CREATE TABLE place_buckets (
    time             timestamptz NOT NULL,  -- start of the ten seconds
    value_sum        double precision,      -- sum over series of their mean readings; null without a reading
    ticks            bigint NOT NULL,       -- with data, of all series
    contended_ticks  bigint NOT NULL,
    series           integer NOT NULL,      -- with data
    contended_series integer NOT NULL,      -- contended at some tick
    value_max        real,                  -- largest reading
    kind             text NOT NULL,         -- system, group, file system, link class
    name             text NOT NULL,         -- '' for the system, and for what no group is known of
    metric           text NOT NULL
);
CREATE INDEX place_buckets_by_place ON place_buckets (kind, name, time);
CREATE INDEX place_buckets_by_time ON place_buckets USING brin (time) WITH (autosummarize = on);

-- The tiers to read. Here minutes are kept by `roll_up`, and the others made when they are asked for; TimescaleDB aggregates all
-- three (0036). A series that is contended in two of six ten seconds counts in both: a minute has the most of them at once.
CREATE VIEW places_10s AS
SELECT kind, name, metric, time, sum(series)::bigint AS series, sum(contended_series)::bigint AS contended_series,
       sum(ticks)::bigint AS ticks, sum(contended_ticks)::bigint AS contended_ticks, sum(value_sum) AS value_sum,
       max(value_max)::double precision AS value_max
FROM place_buckets GROUP BY 1, 2, 3, 4;

CREATE VIEW places_1min AS
SELECT kind, name, metric, time, series::bigint AS series, contended_series::bigint AS contended_series, ticks, contended_ticks,
       value_sum, value_max
FROM place_minutes;

CREATE VIEW places_1h AS
SELECT kind, name, metric, date_bin('1 hour', time, 'epoch') AS time, max(series) AS series, max(contended_series) AS contended_series,
       sum(ticks)::bigint AS ticks, sum(contended_ticks)::bigint AS contended_ticks, avg(value_sum) AS value_sum,
       max(value_max) AS value_max
FROM places_1min GROUP BY 1, 2, 3, 4;

GRANT SELECT ON place_buckets, places_10s, places_1min, places_1h TO tailback_writer, tailback_reader;
GRANT INSERT ON place_buckets TO tailback_writer;

-- Sums of ten seconds that were written without them. Only for those: what is summed twice counts twice.
CREATE FUNCTION sum_places(from_time timestamptz, until_time timestamptz) RETURNS void
    LANGUAGE sql SET search_path = public, pg_temp SET jit = off AS $$
    WITH placed AS (
        SELECT 'system' AS kind, '' AS name, s.series_id, s.metric FROM series s
        UNION ALL
        SELECT 'group', coalesce(p.group_name, aries_group(s.component), ''), s.series_id, s.metric
        FROM series s LEFT JOIN component_places p USING (metric, component)
        UNION ALL
        SELECT 'file system', s.part, s.series_id, s.metric FROM series s
        WHERE s.metric = 'lustre_write_rate' AND s.part IS NOT NULL
        UNION ALL
        SELECT 'link class', l.class, s.series_id, s.metric FROM series s JOIN link_places l ON l.series = s.name
    )
    INSERT INTO place_buckets (time, value_sum, ticks, contended_ticks, series, contended_series, value_max, kind, name, metric)
    SELECT b.time, sum(b.value::double precision), sum(b.ticks), sum(b.contended_ticks), count(*) FILTER (WHERE b.ticks > 0),
           count(*) FILTER (WHERE b.contended_ticks > 0), max(b.value_max), p.kind, p.name, p.metric
    FROM signal_buckets b JOIN placed p USING (series_id) WHERE b.time >= $1 AND b.time < $2 GROUP BY b.time, p.kind, p.name, p.metric
$$;

-- Hours of a kind of places in a span. 0036 replaces it: there they are kept.
CREATE FUNCTION place_hours(asked text, from_time timestamptz, until_time timestamptz)
    RETURNS TABLE (name text, metric text, at_time timestamptz, series bigint, contended_series bigint, ticks bigint,
                   contended_ticks bigint, value_sum double precision, value_max double precision)
    LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT p.name, p.metric, date_bin('1 hour', p.time, 'epoch'), max(p.series), max(p.contended_series), sum(p.ticks)::bigint,
           sum(p.contended_ticks)::bigint, avg(p.value_sum), max(p.value_max)
    FROM places_1min p
    WHERE p.kind = $1 AND p.time >= date_bin('1 hour', $2, 'epoch') AND p.time <= $3 GROUP BY 1, 2, 3
$$;

-- Until when the slowest partition has signals; one that is behind by more than ten minutes is not waited for, as for the minutes
-- of series. Sums are told as far as they are whole: twenty seconds after their end every series that is heard has written its own.
CREATE FUNCTION places_known_until() RETURNS timestamptz
    LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT coalesce(min(p.event_time), 'infinity') FROM stage_positions p, clock c
    WHERE p.stage = 'detector' AND p.event_time > c.now - interval '10 minutes'
$$;

-- Sums of places in a span in the tier that fits, as `signals_over` chooses it: the coarsest that still has a row for each step,
-- and none that was expired at the begin of the span.
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
REVOKE EXECUTE ON FUNCTION sum_places, place_hours, places_known_until, places_over FROM PUBLIC;
GRANT EXECUTE ON FUNCTION place_hours, places_known_until, places_over TO tailback_writer, tailback_reader;

-- What `roll_up` sums by the minute: components, of the minutes of their series, and here places, of their ten seconds.
CREATE FUNCTION roll_up_components(from_time timestamptz, until_time timestamptz) RETURNS void
    LANGUAGE sql SET search_path = public, pg_temp SET jit = off AS $$
    INSERT INTO component_minutes
    SELECT s.metric, s.component, m.time, sum(m.ticks), sum(m.contended_ticks)
    FROM signal_minutes m JOIN series s USING (series_id)
    WHERE m.time >= greatest($1, (SELECT now - interval '7 hours' FROM clock)) AND m.time < $2 GROUP BY 1, 2, 3
    ON CONFLICT (metric, component, time) DO UPDATE SET ticks = excluded.ticks, contended_ticks = excluded.contended_ticks
$$;
CREATE FUNCTION roll_up_places(from_time timestamptz, until_time timestamptz) RETURNS void
    LANGUAGE sql SET search_path = public, pg_temp SET jit = off AS $$
    INSERT INTO place_minutes
    SELECT kind, name, metric, date_bin('1 minute', time, 'epoch'), max(series), max(contended_series), sum(ticks),
           sum(contended_ticks), avg(value_sum), max(value_max)
    FROM places_10s WHERE time >= $1 AND time < $2 GROUP BY 1, 2, 3, 4
    ON CONFLICT (kind, name, metric, time) DO UPDATE SET series = excluded.series,
        contended_series = excluded.contended_series, ticks = excluded.ticks, contended_ticks = excluded.contended_ticks,
        value_sum = excluded.value_sum, value_max = excluded.value_max
$$;
CREATE FUNCTION forget_place_minutes() RETURNS void
    LANGUAGE sql SET search_path = public, pg_temp AS $$
    DELETE FROM place_minutes WHERE time < (SELECT now() - kept_for FROM tier_retention WHERE tier = '1min')
$$;
CREATE OR REPLACE FUNCTION roll_up_minutes(from_time timestamptz, until_time timestamptz) RETURNS void
    LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM roll_up_components($1, $2);
    PERFORM roll_up_places($1, $2);
END $$;
REVOKE EXECUTE ON FUNCTION roll_up_components, roll_up_places, forget_place_minutes FROM PUBLIC;

-- As before (0030); the first hour is that of the oldest minute of components.
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
    hours := coalesce(done.hours_until, (SELECT date_bin('1 hour', min(time), 'epoch') FROM component_minutes),
                      date_bin('1 hour', first, 'epoch'));
    UPDATE roll_up_progress SET minutes_until = until, hours_until = hours;
    -- Of an hour the coarse tier is whole some minutes later.
    whole := date_bin('1 hour', until - interval '5 minutes', 'epoch');
    IF whole > hours THEN
        PERFORM roll_up_hours(hours, whole);
        UPDATE roll_up_progress SET hours_until = whole;
        DELETE FROM component_minutes WHERE time < (SELECT now - interval '7 hours' FROM clock);
        PERFORM forget_place_minutes();
        DELETE FROM health_minutes WHERE time < (SELECT now() - kept_for FROM tier_retention WHERE tier = '1min');
    END IF;
    RETURN until < due;
END $$;

-- As before (0030), with the sums of places, which are kept as the ten seconds are.
CREATE OR REPLACE FUNCTION tailback_expire(raw_before timestamptz, tier_before timestamptz, minutes_before timestamptz,
                                           hours_before timestamptz, ended_before timestamptz, slice integer DEFAULT 100000)
    RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    tier record;
    deleted bigint;
    more boolean := false;
BEGIN
    FOR tier IN SELECT * FROM (VALUES ('signal_rows', raw_before), ('signal_buckets', tier_before), ('place_buckets', tier_before),
                                      ('signal_minutes', minutes_before), ('signal_hours', hours_before)) AS t (name, before)
    LOOP
        EXECUTE format('DELETE FROM %1$I WHERE ctid = ANY (ARRAY(SELECT ctid FROM %1$I WHERE time < $1 LIMIT $2))', tier.name)
            USING tier.before, slice;
        GET DIAGNOSTICS deleted = ROW_COUNT;
        more := more OR deleted = slice;
    END LOOP;
    RETURN tailback_expire_results(ended_before, slice) OR more;
END $$;

-- Of the time before there are minutes alone: one part each, of which every tier says the same. The latest three, which would be
-- summed once more, are made of the ten seconds, as what came after them; all is where nothing was ever summed. A series is in
-- one group: what all groups say is what the system says.
INSERT INTO place_buckets (time, value_sum, ticks, contended_ticks, series, contended_series, value_max, kind, name, metric)
SELECT time, value_sum, ticks, contended_ticks, series, contended_series, value_max, kind, name, metric
FROM (SELECT kind, name, metric, time, series, contended_series, ticks, contended_ticks, value_sum, value_max FROM place_minutes
      UNION ALL
      SELECT 'system', '', metric, time, sum(series), sum(contended_series), sum(ticks), sum(contended_ticks), sum(value_sum),
             max(value_max) FROM place_minutes WHERE kind = 'group' GROUP BY metric, time) m, roll_up_progress
WHERE m.time < minutes_until - interval '3 minutes'
  AND m.time >= coalesce((SELECT now() - kept_for FROM tier_retention WHERE tier = '10s'), '-infinity');
INSERT INTO place_minutes
SELECT 'system', '', metric, time, sum(series), sum(contended_series), sum(ticks), sum(contended_ticks), sum(value_sum), max(value_max)
FROM place_minutes WHERE kind = 'group' GROUP BY metric, time;
SELECT sum_places(coalesce(minutes_until - interval '3 minutes', '-infinity'), 'infinity') FROM roll_up_progress;
