-- What is not yet in columns is read each minute (aggregates, sums, dashboards) and takes four times the room: the newest
-- minutes are found by ranges of pages, and rows go into columns within hours.

-- Every range is new once: without a summary of its own it would be read until the next vacuum. The server keeps 256 requests
-- for summaries, and does them once a minute: one Trinity makes 47 in that time.
CREATE INDEX signal_buckets_by_time ON signal_buckets USING brin (time) WITH (pages_per_range = 256, autosummarize = on);

-- As short as columns of a series still fill: a batch of an aggregate holds one series of one chunk.
SELECT set_chunk_time_interval('signal_buckets', interval '3 hours');
SELECT set_chunk_time_interval(format('%I.%I', materialization_hypertable_schema, materialization_hypertable_name)::regclass,
                               CASE view_name WHEN 'signals_1min' THEN interval '12 hours' ELSE interval '10 days' END)
FROM timescaledb_information.continuous_aggregates WHERE view_name IN ('signals_1min', 'signals_1h');

-- Sets every policy anew; a tier without an interval is kept for ever.
CREATE OR REPLACE FUNCTION tailback_set_policies(merge_after interval, raw_for interval, tier_for interval,
                                                 minutes_for interval, hours_for interval) RETURNS void
    LANGUAGE plpgsql SET search_path = public, pg_temp SET client_min_messages = warning AS $$
DECLARE
    name text;
    tier record;
BEGIN
    FOREACH name IN ARRAY ARRAY['signal_rows', 'signal_buckets', 'signals_1min', 'signals_1h'] LOOP
        PERFORM remove_retention_policy(name, if_exists => true);
        PERFORM remove_compression_policy(name, if_exists => true);
    END LOOP;
    PERFORM remove_continuous_aggregate_policy('signals_1min', if_exists => true);
    PERFORM remove_continuous_aggregate_policy('signals_1h', if_exists => true);
    -- Before the compression of the two: it has to know what may still be refreshed.
    PERFORM add_continuous_aggregate_policy('signals_1min', interval '6 hours', interval '2 minutes',
                                            interval '1 minute');
    PERFORM add_continuous_aggregate_policy('signals_1h', interval '2 days', interval '70 minutes',
                                            interval '10 minutes');
    -- The two aggregates: as soon as no refresh reaches so far back.
    FOR tier IN SELECT * FROM (VALUES ('signal_rows', raw_for, merge_after),
                                      ('signal_buckets', tier_for, interval '1 hour'),
                                      ('signals_1min', minutes_for, interval '7 hours'),
                                      ('signals_1h', hours_for, interval '3 days'))
                AS t (name, keep_for, compress_after) LOOP
        IF tier.keep_for IS NOT NULL THEN
            PERFORM add_retention_policy(tier.name, tier.keep_for);
        END IF;
        IF tier.compress_after IS NOT NULL THEN
            PERFORM add_compression_policy(tier.name, tier.compress_after);
        END IF;
    END LOOP;
END $$;
