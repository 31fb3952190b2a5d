-- Sums of places as continuous aggregates: ten seconds of the parts that commits wrote, minutes of the ten seconds, hours of the
-- minutes. Times that are not stored yet are computed when they are read, so that the newest is present. They aggregate sums, not
-- the rows of series: those the server would have to read and insert a second time, and a table with an aggregate has a
-- trigger, with which COPY cannot write to the columnstore.

DROP VIEW places_1h, places_1min, places_10s;
DROP INDEX place_buckets_by_place, place_buckets_by_time;
-- Minutes that are older than the oldest ten seconds, and hours that are older than the oldest minute.
INSERT INTO place_buckets (time, value_sum, ticks, contended_ticks, series, contended_series, value_max, kind, name, metric)
SELECT time, value_sum, ticks, contended_ticks, series, contended_series, value_max, kind, name, metric
FROM place_minutes
WHERE time < coalesce((SELECT date_bin('1 minute', min(time), 'epoch') FROM place_buckets), 'infinity')
UNION ALL
SELECT time, value_sum, ticks, contended_ticks, series, contended_series, value_max, kind, name, metric
FROM place_hours
WHERE time < coalesce(least((SELECT date_bin('1 hour', min(time), 'epoch') FROM place_minutes),
                            (SELECT date_bin('1 hour', min(time), 'epoch') FROM place_buckets)), 'infinity');
-- Few chunks of existing rows. New ones are small: they are read every half a minute until they are in columns.
SELECT create_hypertable('place_buckets', 'time', chunk_time_interval => interval '1 day',
                         create_default_indexes => false, migrate_data => true);
SELECT set_chunk_time_interval('place_buckets', interval '6 hours');
CREATE INDEX place_buckets_by_place ON place_buckets (kind, name, time);
CREATE INDEX place_buckets_by_time ON place_buckets USING brin (time) WITH (autosummarize = on);
ALTER TABLE place_buckets SET (timescaledb.compress, timescaledb.compress_segmentby = '',
                               timescaledb.compress_orderby = 'kind, name, metric, time');

CREATE MATERIALIZED VIEW places_10s WITH (timescaledb.continuous, timescaledb.materialized_only = false) AS
SELECT kind, name, metric, time_bucket(interval '10 seconds', time) AS time, sum(series)::bigint AS series,
       sum(contended_series)::bigint AS contended_series, sum(ticks)::bigint AS ticks,
       sum(contended_ticks)::bigint AS contended_ticks, sum(value_sum) AS value_sum, max(value_max)::double precision AS value_max
FROM place_buckets GROUP BY 1, 2, 3, 4 WITH NO DATA;

CREATE MATERIALIZED VIEW places_1min WITH (timescaledb.continuous, timescaledb.materialized_only = false) AS
SELECT kind, name, metric, time_bucket(interval '1 minute', time) AS time, max(series) AS series,
       max(contended_series) AS contended_series, sum(ticks)::bigint AS ticks, sum(contended_ticks)::bigint AS contended_ticks,
       avg(value_sum) AS value_sum, max(value_max) AS value_max
FROM places_10s GROUP BY 1, 2, 3, 4 WITH NO DATA;

CREATE MATERIALIZED VIEW places_1h WITH (timescaledb.continuous, timescaledb.materialized_only = false) AS
SELECT kind, name, metric, time_bucket(interval '1 hour', time) AS time, max(series) AS series,
       max(contended_series) AS contended_series, sum(ticks)::bigint AS ticks, sum(contended_ticks)::bigint AS contended_ticks,
       avg(value_sum) AS value_sum, max(value_max) AS value_max
FROM places_1min GROUP BY 1, 2, 3, 4 WITH NO DATA;

ALTER MATERIALIZED VIEW places_10s SET (timescaledb.compress, timescaledb.compress_segmentby = 'kind, name, metric',
                                        timescaledb.compress_orderby = 'time');
ALTER MATERIALIZED VIEW places_1min SET (timescaledb.compress, timescaledb.compress_segmentby = 'kind, name, metric',
                                         timescaledb.compress_orderby = 'time');
ALTER MATERIALIZED VIEW places_1h SET (timescaledb.compress, timescaledb.compress_segmentby = 'kind, name, metric',
                                       timescaledb.compress_orderby = 'time');
SELECT set_chunk_time_interval(format('%I.%I', materialization_hypertable_schema, materialization_hypertable_name)::regclass,
                               CASE view_name WHEN 'places_10s' THEN interval '1 day' WHEN 'places_1min' THEN interval '10 days'
                               ELSE interval '100 days' END)
FROM timescaledb_information.continuous_aggregates WHERE view_name IN ('places_10s', 'places_1min', 'places_1h');
GRANT SELECT ON places_10s, places_1min, places_1h TO tailback_writer, tailback_reader;

-- A setting of its own keeps `places_over` out of the caller's plan: inside of it, TimescaleDB computes until when an aggregate is stored
-- for each row instead of once (a second and a half for a month of groups).
ALTER FUNCTION places_over SET jit = off;

-- The aggregates keep minutes and hours of places; `roll_up` keeps those of components only.
DROP TABLE place_minutes, place_hours;
DROP FUNCTION roll_up_places, roll_up_place_hours, place_hours_until;
CREATE OR REPLACE FUNCTION forget_places() RETURNS void LANGUAGE sql AS '';
CREATE OR REPLACE FUNCTION roll_up_minutes(from_time timestamptz, until_time timestamptz) RETURNS void
    LANGUAGE sql SET search_path = public, pg_temp AS $$ SELECT roll_up_components($1, $2) $$;
CREATE OR REPLACE FUNCTION roll_up_hours(from_time timestamptz, until_time timestamptz) RETURNS void
    LANGUAGE sql SET search_path = public, pg_temp AS $$ SELECT roll_up_component_hours($1, $2) $$;

-- Replaces every policy; a tier without an interval is kept for ever. An aggregate is refreshed as far back as rows arrive
-- late after an outage, and goes into columns once no refresh reaches it. A refresh over dropped rows of the tier below would
-- empty it: that tier is kept longer than the span, whatever the intervals are, for they may be changed to longer ones.
CREATE FUNCTION tailback_set_policies(merge_after interval, raw_for interval, tier_for interval,
                                      minutes_for interval, hours_for interval) RETURNS void
    LANGUAGE plpgsql SET search_path = public, pg_temp SET client_min_messages = warning AS $$
DECLARE
    tier record;
BEGIN
    FOR tier IN SELECT * FROM (VALUES
        ('signal_rows', raw_for, merge_after, NULL::interval, NULL::interval, NULL::interval),
        ('signal_buckets', tier_for, interval '1 hour', NULL, NULL, NULL),
        ('signal_minutes', minutes_for, interval '1 hour', NULL, NULL, NULL),
        ('signal_hours', hours_for, interval '3 hours', NULL, NULL, NULL),
        ('place_buckets', CASE WHEN raw_for IS NOT NULL THEN greatest(raw_for, interval '8 days') END, interval '1 hour', NULL, NULL, NULL),
        ('places_10s', CASE WHEN tier_for IS NOT NULL THEN greatest(tier_for, interval '9 days') END, interval '8 days',
         interval '7 days', interval '30 seconds', interval '30 seconds'),
        ('places_1min', CASE WHEN minutes_for IS NOT NULL THEN greatest(minutes_for, interval '10 days') END, interval '9 days',
         interval '8 days', interval '2 minutes', interval '1 minute'),
        ('places_1h', hours_for, interval '10 days', interval '9 days', interval '70 minutes', interval '10 minutes'))
        AS t (name, keep_for, compress_after, refresh_from, refresh_until, refresh_each) LOOP
        PERFORM remove_retention_policy(tier.name, if_exists => true);
        PERFORM remove_compression_policy(tier.name, if_exists => true);
        IF tier.refresh_each IS NOT NULL THEN
            PERFORM remove_continuous_aggregate_policy(tier.name, if_exists => true);
            PERFORM add_continuous_aggregate_policy(tier.name, tier.refresh_from, tier.refresh_until, tier.refresh_each);
        END IF;
        IF tier.keep_for IS NOT NULL THEN
            PERFORM add_retention_policy(tier.name, tier.keep_for);
        END IF;
        IF tier.compress_after IS NOT NULL THEN
            PERFORM add_compression_policy(tier.name, tier.compress_after);
        END IF;
    END LOOP;
END $$;
REVOKE EXECUTE ON FUNCTION tailback_set_policies FROM PUBLIC;

-- Drops whole chunks: rows are not deleted one by one from the columnstore. `drop_chunks` refuses null and infinite times.
CREATE OR REPLACE FUNCTION tailback_expire(raw_before timestamptz, tier_before timestamptz, minutes_before timestamptz,
                                           hours_before timestamptz, ended_before timestamptz, slice integer DEFAULT 100000)
    RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    tier record;
BEGIN
    FOR tier IN SELECT * FROM (VALUES ('signal_rows', raw_before), ('signal_buckets', tier_before),
                                      ('signal_minutes', minutes_before), ('signal_hours', hours_before),
                                      ('place_buckets', raw_before), ('places_10s', tier_before),
                                      ('places_1min', minutes_before), ('places_1h', hours_before)) AS t (name, before)
    LOOP
        IF isfinite(tier.before) THEN
            PERFORM drop_chunks(tier.name::regclass, older_than => tier.before);
        END IF;
    END LOOP;
    RETURN tailback_expire_results(ended_before, slice);
END $$;

-- The size of hypertables is that of their chunks; the columnstore reports what it saves.
CREATE OR REPLACE FUNCTION storage_sizes()
    RETURNS TABLE (name text, bytes bigint, uncompressed_bytes bigint, compressed_bytes bigint)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH hypertables AS (
        SELECT coalesce(a.view_name, h.hypertable_name)::text AS name, h.hypertable_schema, h.hypertable_name,
               format('%I.%I', h.hypertable_schema, h.hypertable_name)::regclass AS relation
        FROM timescaledb_information.hypertables h
        LEFT JOIN timescaledb_information.continuous_aggregates a
               ON (a.materialization_hypertable_schema, a.materialization_hypertable_name)
                  = (h.hypertable_schema, h.hypertable_name)
    )
    SELECT s.* FROM (
        SELECT h.name, hypertable_size(h.relation) AS bytes, c.before_compression_total_bytes AS uncompressed_bytes,
               c.after_compression_total_bytes AS compressed_bytes
        FROM hypertables h LEFT JOIN LATERAL hypertable_compression_stats(h.relation) c ON true
        UNION ALL
        SELECT c.relname::text, pg_total_relation_size(c.oid), NULL, NULL
        FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
          AND c.oid NOT IN (SELECT h.relation FROM hypertables h)
    ) s ORDER BY s.bytes DESC
$$;
