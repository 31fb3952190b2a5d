-- Coarser tiers. On plain PostgreSQL they are computed when asked; TimescaleDB keeps them (0005).

CREATE VIEW signals_10s AS
SELECT series_id, time, value, value_min, value_max, mean, baseline, ticks::bigint AS ticks,
       contended_ticks::bigint AS contended_ticks, slowdown_s
FROM signal_buckets;

CREATE VIEW signals_1min AS
SELECT series_id, date_bin('1 minute', time, 'epoch') AS time,
       sum(value * ticks) / nullif(sum(ticks) FILTER (WHERE value IS NOT NULL), 0) AS value,
       min(value_min) AS value_min, max(value_max) AS value_max,
       avg(mean) AS mean, avg(baseline) AS baseline,
       sum(ticks) AS ticks, sum(contended_ticks) AS contended_ticks,
       (array_agg(slowdown_s ORDER BY time DESC))[1] AS slowdown_s
FROM signal_buckets GROUP BY 1, 2;

CREATE VIEW signals_1h AS
SELECT series_id, date_bin('1 hour', time, 'epoch') AS time,
       sum(value * ticks) / nullif(sum(ticks) FILTER (WHERE value IS NOT NULL), 0) AS value,
       min(value_min) AS value_min, max(value_max) AS value_max,
       avg(mean) AS mean, avg(baseline) AS baseline,
       sum(ticks) AS ticks, sum(contended_ticks) AS contended_ticks,
       (array_agg(slowdown_s ORDER BY time DESC))[1] AS slowdown_s
FROM signal_buckets GROUP BY 1, 2;

-- Deletes what ended before the given times, at most `slice` rows of each table; true when more is due.
-- With the owner's rights: a writer deletes history in no other way. 0005 replaces it.
CREATE FUNCTION tailback_expire(raw_before timestamptz, tier_before timestamptz, episodes_before timestamptz,
                                slice integer DEFAULT 100000) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    deleted bigint;
    more boolean := false;
BEGIN
    DELETE FROM signal_rows WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM signal_rows WHERE time < raw_before LIMIT slice));
    GET DIAGNOSTICS deleted = ROW_COUNT;
    more := more OR deleted = slice;
    DELETE FROM signal_buckets WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM signal_buckets WHERE time < tier_before LIMIT slice));
    GET DIAGNOSTICS deleted = ROW_COUNT;
    more := more OR deleted = slice;
    DELETE FROM episodes WHERE (source_partition, id) IN (
        SELECT source_partition, id FROM episodes WHERE end_time < episodes_before AND NOT open LIMIT slice);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    more := more OR deleted = slice;
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
