-- The newest minutes are asked for all the time, and every range of pages is new once: without a summary of its own it would
-- be read whatever is asked, until the next vacuum. On TimescaleDB 0028 makes the second anew.
ALTER INDEX IF EXISTS signal_rows_by_time SET (autosummarize = on);
ALTER INDEX IF EXISTS signal_buckets_by_time SET (autosummarize = on);

-- Sums up what is new, an hour at most; true when more is due. Minutes that ended 20 s before the slowest partition's
-- latest signal are complete; one that is behind by more than ten minutes is not waited for. Each minute is summed once
-- more three minutes later, for rows that came late.
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
    SELECT date_bin('1 minute', min(event_time) - interval '20 seconds', 'epoch') INTO due
    FROM stage_positions, clock WHERE event_time > clock.now - interval '10 minutes';
    IF due IS NULL THEN RETURN false; END IF;
    PERFORM place_components();
    PERFORM tell_health(due);
    IF done.minutes_until IS NULL THEN
        SELECT date_bin('1 minute', min(time), 'epoch') INTO first FROM signal_buckets;
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
