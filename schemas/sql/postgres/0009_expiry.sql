-- What ended goes as a whole: episodes, regions, and jobs with all that is known of them.

-- At most `slice` of each that ended before the given time; true when more is due.
CREATE FUNCTION tailback_expire_results(ended_before timestamptz, slice integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    deleted bigint;
    more boolean;
BEGIN
    DELETE FROM episodes WHERE (source_partition, id) IN (
        SELECT source_partition, id FROM episodes WHERE end_time < ended_before AND NOT open LIMIT slice);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    more := deleted = slice;
    -- No foreign keys hang on `regions` or `jobs`: what belongs to them goes with them here.
    WITH gone AS (
        DELETE FROM regions WHERE region_id IN (
            SELECT region_id FROM regions WHERE end_time < ended_before AND NOT open LIMIT slice)
        RETURNING region_id
    ), steps AS (DELETE FROM region_steps WHERE region_id IN (SELECT region_id FROM gone)),
    of_series AS (DELETE FROM region_series WHERE region_id IN (SELECT region_id FROM gone)),
    causes AS (DELETE FROM region_causes WHERE region_id IN (SELECT region_id FROM gone)),
    victims AS (DELETE FROM region_victims WHERE region_id IN (SELECT region_id FROM gone))
    SELECT count(*) INTO deleted FROM gone;
    more := more OR deleted = slice;
    WITH gone AS (
        DELETE FROM jobs WHERE job_id IN (SELECT job_id FROM jobs WHERE end_time < ended_before LIMIT slice)
        RETURNING job_id
    ), nodes AS (DELETE FROM job_nodes WHERE job_id IN (SELECT job_id FROM gone)),
    results AS (DELETE FROM job_results WHERE job_id IN (SELECT job_id FROM gone)),
    causes AS (DELETE FROM job_causes WHERE job_id IN (SELECT job_id FROM gone)),
    of_series AS (DELETE FROM job_series WHERE job_id IN (SELECT job_id FROM gone)),
    factors AS (DELETE FROM job_factors WHERE job_id IN (SELECT job_id FROM gone)),
    waits AS (DELETE FROM region_victims WHERE job_id IN (SELECT job_id FROM gone))
    SELECT count(*) INTO deleted FROM gone;
    RETURN more OR deleted = slice;
END $$;
REVOKE EXECUTE ON FUNCTION tailback_expire_results FROM PUBLIC;

-- Not where signals lie in the columnstore: 0010 has that variant.
DO $do$
BEGIN
    IF NOT EXISTS (SELECT FROM schema_migrations WHERE name = '0005_aggregates') THEN
        EXECUTE $define$
CREATE OR REPLACE FUNCTION tailback_expire(raw_before timestamptz, tier_before timestamptz,
                                           episodes_before timestamptz, slice integer DEFAULT 100000) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    deleted bigint;
    more boolean;
BEGIN
    DELETE FROM signal_rows WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM signal_rows WHERE time < raw_before LIMIT slice));
    GET DIAGNOSTICS deleted = ROW_COUNT;
    more := deleted = slice;
    DELETE FROM signal_buckets WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM signal_buckets WHERE time < tier_before LIMIT slice));
    GET DIAGNOSTICS deleted = ROW_COUNT;
    more := more OR deleted = slice;
    RETURN tailback_expire_results(episodes_before, slice) OR more;
END $$
        $define$;
    END IF;
END $do$;
