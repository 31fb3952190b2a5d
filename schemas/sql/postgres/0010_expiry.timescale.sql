-- Chunks go as a whole; rows are not deleted one by one from the columnstore.
CREATE OR REPLACE FUNCTION tailback_expire(raw_before timestamptz, tier_before timestamptz,
                                           episodes_before timestamptz, slice integer DEFAULT 100000) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM drop_chunks('signal_rows', older_than => raw_before);
    PERFORM drop_chunks('signal_buckets', older_than => tier_before);
    RETURN tailback_expire_results(episodes_before, slice);
END $$;
