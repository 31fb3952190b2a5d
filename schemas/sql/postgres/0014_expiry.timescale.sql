-- What has no time (null, or one without an end) is kept; `drop_chunks` refuses such times.
CREATE OR REPLACE FUNCTION tailback_expire(raw_before timestamptz, tier_before timestamptz,
                                           episodes_before timestamptz, slice integer DEFAULT 100000) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF isfinite(raw_before) THEN
        PERFORM drop_chunks('signal_rows', older_than => raw_before);
    END IF;
    IF isfinite(tier_before) THEN
        PERFORM drop_chunks('signal_buckets', older_than => tier_before);
    END IF;
    RETURN tailback_expire_results(episodes_before, slice);
END $$;
