-- Minutes and hours as hypertables in the columnstore, with the ten seconds' layout: one commit holds one row of each series.
-- Chunks are merged by series once they are over; those of hours are short enough that what is not merged yet is read fast.

SELECT create_hypertable('signal_minutes', 'time', chunk_time_interval => interval '12 hours',
                         create_default_indexes => false, migrate_data => true);
SELECT create_hypertable('signal_hours', 'time', chunk_time_interval => interval '5 days',
                         create_default_indexes => false, migrate_data => true);
ALTER TABLE signal_minutes SET (timescaledb.compress, timescaledb.compress_segmentby = '',
                                timescaledb.compress_orderby = 'series_id, time');
ALTER TABLE signal_hours SET (timescaledb.compress, timescaledb.compress_segmentby = '',
                              timescaledb.compress_orderby = 'series_id, time');

-- What was aggregated so far; where TimescaleDB comes later than the tables they hold it already.
INSERT INTO signal_minutes
SELECT time, slowdown_s, series_id, value, value_min, value_max, mean, baseline, ticks, contended_ticks FROM minutes_aggregated
WHERE NOT EXISTS (SELECT FROM signal_minutes);
INSERT INTO signal_hours
SELECT time, slowdown_s, series_id, value, value_min, value_max, mean, baseline, ticks, contended_ticks FROM hours_aggregated
WHERE NOT EXISTS (SELECT FROM signal_hours);
DROP MATERIALIZED VIEW hours_aggregated;
DROP MATERIALIZED VIEW minutes_aggregated;

-- Nobody calls it any more (0030).
DROP FUNCTION tailback_expire(timestamptz, timestamptz, timestamptz, integer);
DO $$ BEGIN
    IF to_regclass('signals_1min') IS NULL THEN PERFORM tailback_tier_views(); END IF;
END $$;

-- Sets every policy anew; a tier without an interval is kept for ever.
CREATE OR REPLACE FUNCTION tailback_set_policies(merge_after interval, raw_for interval, tier_for interval,
                                                 minutes_for interval, hours_for interval) RETURNS void
    LANGUAGE plpgsql SET search_path = public, pg_temp SET client_min_messages = warning AS $$
DECLARE
    tier record;
BEGIN
    FOR tier IN SELECT * FROM (VALUES ('signal_rows', raw_for, merge_after),
                                      ('signal_buckets', tier_for, interval '1 hour'),
                                      ('signal_minutes', minutes_for, interval '1 hour'),
                                      ('signal_hours', hours_for, interval '3 hours'))
                AS t (name, keep_for, compress_after) LOOP
        PERFORM remove_retention_policy(tier.name, if_exists => true);
        PERFORM remove_compression_policy(tier.name, if_exists => true);
        IF tier.keep_for IS NOT NULL THEN
            PERFORM add_retention_policy(tier.name, tier.keep_for);
        END IF;
        IF tier.compress_after IS NOT NULL THEN
            PERFORM add_compression_policy(tier.name, tier.compress_after);
        END IF;
    END LOOP;
END $$;

-- Chunks go as a whole; rows are not deleted one by one from the columnstore. `drop_chunks` refuses times that are none.
CREATE OR REPLACE FUNCTION tailback_expire(raw_before timestamptz, tier_before timestamptz, minutes_before timestamptz,
                                           hours_before timestamptz, ended_before timestamptz, slice integer DEFAULT 100000)
    RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    tier record;
BEGIN
    FOR tier IN SELECT * FROM (VALUES ('signal_rows', raw_before), ('signal_buckets', tier_before),
                                      ('signal_minutes', minutes_before), ('signal_hours', hours_before)) AS t (name, before)
    LOOP
        IF isfinite(tier.before) THEN
            PERFORM drop_chunks(tier.name::regclass, older_than => tier.before);
        END IF;
    END LOOP;
    RETURN tailback_expire_results(ended_before, slice);
END $$;
