-- The coarser tiers as continuous aggregates, each made from the one below it. What is not yet kept is computed
-- when asked, so that the newest minute is there.
DROP VIEW signals_1h;
DROP VIEW signals_1min;

CREATE MATERIALIZED VIEW signals_1min WITH (timescaledb.continuous, timescaledb.materialized_only = false) AS
SELECT series_id, time_bucket(interval '1 minute', time) AS time,
       sum(value * ticks) / nullif(sum(ticks) FILTER (WHERE value IS NOT NULL), 0) AS value,
       min(value_min) AS value_min, max(value_max) AS value_max,
       avg(mean) AS mean, avg(baseline) AS baseline,
       sum(ticks) AS ticks, sum(contended_ticks) AS contended_ticks,
       last(slowdown_s, time) AS slowdown_s
FROM signal_buckets GROUP BY 1, 2 WITH NO DATA;

CREATE MATERIALIZED VIEW signals_1h WITH (timescaledb.continuous, timescaledb.materialized_only = false) AS
SELECT series_id, time_bucket(interval '1 hour', time) AS time,
       sum(value * ticks) / nullif(sum(ticks) FILTER (WHERE value IS NOT NULL), 0) AS value,
       min(value_min) AS value_min, max(value_max) AS value_max,
       avg(mean) AS mean, avg(baseline) AS baseline,
       sum(ticks)::bigint AS ticks, sum(contended_ticks)::bigint AS contended_ticks,
       last(slowdown_s, time) AS slowdown_s
FROM signals_1min GROUP BY 1, 2 WITH NO DATA;

ALTER MATERIALIZED VIEW signals_1min SET (timescaledb.compress, timescaledb.compress_segmentby = 'series_id',
                                          timescaledb.compress_orderby = 'time');
ALTER MATERIALIZED VIEW signals_1h SET (timescaledb.compress, timescaledb.compress_segmentby = 'series_id',
                                        timescaledb.compress_orderby = 'time');

GRANT SELECT ON signals_1min, signals_1h TO tailback_writer, tailback_reader;

-- Sets every policy anew; a tier without an interval is kept for ever.
CREATE FUNCTION tailback_set_policies(merge_after interval, raw_for interval, tier_for interval,
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
    FOR tier IN SELECT * FROM (VALUES ('signal_rows', raw_for, merge_after),
                                      ('signal_buckets', tier_for, interval '1 day'),
                                      ('signals_1min', minutes_for, interval '3 days'),
                                      ('signals_1h', hours_for, interval '30 days'))
                AS t (name, keep_for, compress_after) LOOP
        IF tier.keep_for IS NOT NULL THEN
            PERFORM add_retention_policy(tier.name, tier.keep_for);
        END IF;
        IF tier.compress_after IS NOT NULL THEN
            PERFORM add_compression_policy(tier.name, tier.compress_after);
        END IF;
    END LOOP;
END $$;
REVOKE EXECUTE ON FUNCTION tailback_set_policies FROM PUBLIC;

-- Chunks go as a whole; rows are not deleted one by one from the columnstore.
CREATE OR REPLACE FUNCTION tailback_expire(raw_before timestamptz, tier_before timestamptz,
                                           episodes_before timestamptz, slice integer DEFAULT 100000) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    deleted bigint;
    more boolean;
BEGIN
    PERFORM drop_chunks('signal_rows', older_than => raw_before);
    PERFORM drop_chunks('signal_buckets', older_than => tier_before);
    DELETE FROM episodes WHERE (source_partition, id) IN (
        SELECT source_partition, id FROM episodes WHERE end_time < episodes_before AND NOT open LIMIT slice);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    more := deleted = slice;
    -- No foreign keys hang on `jobs`: what belongs to a job goes with it here.
    WITH gone AS (
        DELETE FROM jobs WHERE job_id IN (SELECT job_id FROM jobs WHERE end_time < episodes_before LIMIT slice)
        RETURNING job_id
    ), nodes AS (DELETE FROM job_nodes WHERE job_id IN (SELECT job_id FROM gone)),
    results AS (DELETE FROM job_results WHERE job_id IN (SELECT job_id FROM gone)),
    causes AS (DELETE FROM job_causes WHERE job_id IN (SELECT job_id FROM gone)),
    of_series AS (DELETE FROM job_series WHERE job_id IN (SELECT job_id FROM gone))
    SELECT count(*) INTO deleted FROM gone;
    RETURN more OR deleted = slice;
END $$;
