-- Functions that the stages call: learned factors, sums for dashboards, expiry.

-- Learns from runs that ended since the last time. Where runs reported their progress, what a second of contention cost them by it:
-- the mean, with the mean error of a run and the spread of the runs. Else run time against seconds of contention, least squares:
-- five runs at least, of which the contention differs by 2% of the run. Returns how many versions are new.
CREATE FUNCTION learn_betas() RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH measured AS (
        SELECT l.configuration, count(*) AS runs, max(l.end_time) AS learnt_until, avg(m.cost) AS slope,
               avg(l.run_s - m.lost_s) AS clear_s,
               (avg(m.cost_hi - m.cost_lo) / 2 / 1.96 + coalesce(stddev_samp(m.cost), 0)) / sqrt(count(*)) AS error
        FROM learnable_runs l JOIN job_measured m USING (job_id) WHERE m.cost IS NOT NULL GROUP BY 1
    ), compared AS (
        SELECT configuration, count(*) AS runs, max(end_time) AS learnt_until,
               regr_slope(run_s, slowdown_s) AS slope, regr_intercept(run_s, slowdown_s) AS clear_s,
               sqrt(greatest(regr_syy(run_s, slowdown_s) - regr_slope(run_s, slowdown_s) * regr_sxy(run_s, slowdown_s), 0)
                    / (count(*) - 2) / regr_sxx(run_s, slowdown_s)) AS error
        FROM learnable_runs GROUP BY configuration
        HAVING count(*) >= 5 AND max(slowdown_s) - min(slowdown_s) >= 0.02 * avg(run_s)
    ), fitted AS (
        SELECT m.configuration, m.runs, m.learnt_until, m.slope, m.clear_s, m.error FROM measured m
        UNION ALL
        SELECT c.configuration, c.runs, c.learnt_until, c.slope, c.clear_s, c.error FROM compared c
        WHERE NOT EXISTS (SELECT FROM measured m WHERE m.configuration = c.configuration)
    ), latest AS (
        SELECT DISTINCT ON (configuration) configuration, version, runs, learnt_until
        FROM betas ORDER BY configuration, version DESC
    ), put AS (
        INSERT INTO betas (configuration, version, beta, beta_lo, beta_hi, clear_s, runs, learnt_until)
        SELECT f.configuration, coalesce(l.version, 0) + 1, greatest(0, f.slope), greatest(0, f.slope - 1.96 * f.error),
               greatest(0, f.slope + 1.96 * f.error), f.clear_s, f.runs, f.learnt_until
        FROM fitted f LEFT JOIN latest l USING (configuration)
        WHERE l.configuration IS NULL OR (l.runs, l.learnt_until) IS DISTINCT FROM (f.runs::integer, f.learnt_until)
        RETURNING 1
    )
    SELECT count(*) FROM put
$$;

-- Writes the factors of jobs that run, or ended within the last hour of event time; factors of older
-- jobs keep their values and version. Returns how many.
CREATE FUNCTION write_factors() RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH due AS (
        SELECT j.job_id, j.start_time, j.end_time, j.end_presumed, n.groups,
               job_configuration(j.app, j.name, n.nodes) AS configuration, r.slowdown_s, r.slowdown_lo_s, r.slowdown_hi_s,
               r.contended_s, r.completeness, coalesce(c.own, 0) AS own, coalesce(c.others, 0) AS others, m.name AS counted,
               m.lost_s AS measured_s, m.lost_lo_s AS measured_lo_s, m.lost_hi_s AS measured_hi_s, m.cost, m.cost_lo, m.cost_hi,
               extract(epoch FROM coalesce(j.end_time, (SELECT now FROM clock)) - j.start_time)::double precision AS run_s
        FROM jobs j JOIN job_results r USING (job_id) LEFT JOIN job_measured m USING (job_id)
        CROSS JOIN LATERAL (
            SELECT count(*) AS nodes, count(DISTINCT p.group_name) AS groups
            FROM job_nodes m LEFT JOIN node_places p USING (node) WHERE m.job_id = j.job_id
        ) n
        CROSS JOIN LATERAL (
            SELECT sum(share) FILTER (WHERE cause = 'self') AS own,
                   sum(share) FILTER (WHERE cause IN ('other_job', 'io_on_mpi')) AS others
            FROM job_causes k WHERE k.job_id = j.job_id
        ) c
        WHERE j.end_time IS NULL OR j.end_time > (SELECT now FROM clock) - interval '1 hour'
           OR NOT EXISTS (SELECT FROM job_factors f WHERE f.job_id = j.job_id)
    ), known AS (
        SELECT DISTINCT ON (configuration) * FROM betas ORDER BY configuration, version DESC
    ), placements AS (
        -- Run time without contention, by how many groups the nodes span.
        SELECT l.configuration, l.groups, count(*) AS runs,
               percentile_cont(0.25) WITHIN GROUP (ORDER BY l.run_s - k.beta * l.slowdown_s) AS lo_s,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY l.run_s - k.beta * l.slowdown_s) AS median_s,
               percentile_cont(0.75) WITHIN GROUP (ORDER BY l.run_s - k.beta * l.slowdown_s) AS hi_s
        FROM learnable_runs l JOIN known k USING (configuration) GROUP BY 1, 2 HAVING count(*) >= 2
    ), best AS (
        SELECT configuration, min(median_s) AS best_s FROM placements GROUP BY 1 HAVING count(*) >= 2
    ), put AS (
        INSERT INTO job_factors AS f (job_id, configuration, self_s, self_lo_s, self_hi_s, other_s, other_lo_s, other_hi_s,
                                 placement, placement_lo, placement_hi, beta, beta_lo, beta_hi, beta_version, beta_runs, caveat)
        SELECT d.job_id, d.configuration,
               b.lost_s * d.own, b.lost_lo_s * d.own, b.lost_hi_s * least(1, d.own),
               b.lost_s * d.others, b.lost_lo_s * d.others,
               -- Loss without a known cause may be due to other jobs.
               b.lost_hi_s * greatest(0, 1 - d.own),
               p.median_s / t.best_s, p.lo_s / t.best_s, p.hi_s / t.best_s,
               b.beta, b.beta_lo, b.beta_hi, b.version, b.runs,
               concat_ws('; ',
                   CASE WHEN b.version = 0 AND d.counted IS NULL THEN 'no finished runs of this configuration to learn from' END,
                   CASE WHEN d.completeness < 0.6
                        THEN format('%s%% of the data is missing', round((100 * (1 - d.completeness))::numeric)) END,
                   CASE WHEN d.end_presumed THEN 'end not reported' END,
                   CASE WHEN d.contended_s > 0.95 * d.run_s
                        THEN 'it never saw a quiet spell: what it would do without contention is assumed' END)
        FROM due d LEFT JOIN known k USING (configuration)
        CROSS JOIN LATERAL (
            -- What the job itself measured comes before what its configuration learned.
            SELECT coalesce(d.cost, k.beta, 1) AS beta, coalesce(d.cost_lo, k.beta_lo, 1) AS beta_lo,
                   coalesce(d.cost_hi, k.beta_hi, 1) AS beta_hi, coalesce(k.version, 0) AS version, coalesce(k.runs, 0) AS runs,
                   coalesce(d.measured_s, d.slowdown_s * coalesce(k.beta, 1)) AS lost_s,
                   coalesce(d.measured_lo_s, d.slowdown_lo_s * coalesce(k.beta_lo, 1)) AS lost_lo_s,
                   coalesce(d.measured_hi_s, d.slowdown_hi_s * coalesce(k.beta_hi, 1)) AS lost_hi_s
        ) b
        LEFT JOIN placements p ON (p.configuration, p.groups) = (d.configuration, d.groups)
        LEFT JOIN best t ON t.configuration = d.configuration
        ON CONFLICT (job_id) DO UPDATE SET
            configuration = excluded.configuration, self_s = excluded.self_s, self_lo_s = excluded.self_lo_s,
            self_hi_s = excluded.self_hi_s, other_s = excluded.other_s, other_lo_s = excluded.other_lo_s,
            other_hi_s = excluded.other_hi_s, placement = excluded.placement, placement_lo = excluded.placement_lo,
            placement_hi = excluded.placement_hi, beta = excluded.beta, beta_lo = excluded.beta_lo, beta_hi = excluded.beta_hi,
            beta_version = excluded.beta_version, beta_runs = excluded.beta_runs, caveat = excluded.caveat
        RETURNING 1
    )
    SELECT count(*) FROM put
$$;

-- The groups of components may become known later than the series.
CREATE FUNCTION place_components() RETURNS void
    LANGUAGE sql SET search_path = public, pg_temp SET jit = off AS $$
    INSERT INTO component_places AS c
    SELECT s.metric, s.component, coalesce(aries_group(s.component), w.group_name, n.group_name, '')
    FROM (SELECT DISTINCT metric, component FROM series) s
    LEFT JOIN (SELECT switch, min(nullif(group_name, '')) AS group_name FROM node_switches GROUP BY 1) w
           ON w.switch = s.component
    LEFT JOIN (SELECT node, min(group_name) AS group_name FROM node_places GROUP BY 1) n ON n.node = s.component
    ON CONFLICT (metric, component) DO UPDATE SET group_name = excluded.group_name
    WHERE c.group_name <> excluded.group_name
$$;

CREATE FUNCTION write_health(at_time timestamptz) RETURNS void
    LANGUAGE sql SET search_path = public, pg_temp SET jit = off AS $$
    INSERT INTO health_minutes
    SELECT f.figure, f.label, date_bin('1 minute', $1, 'epoch'), f.value FROM (
        SELECT 'lag_s' AS figure, p.stage AS label,
               max(extract(epoch FROM p.committed_at - p.event_time))::double precision AS value
        FROM stage_positions p WHERE p.event_time IS NOT NULL GROUP BY 1, 2
        UNION ALL
        SELECT 'backlog_messages', b.stage, b.messages FROM stage_backlog b WHERE b.measured_at > now() - interval '5 minutes'
        UNION ALL
        SELECT 'dropped_rows', d.reason, d.count FROM dropped_rows d
        UNION ALL
        SELECT 'silent_sources', '', count(*) FILTER (WHERE s.state IN ('silent', 'never seen')) FROM sources s
        UNION ALL
        SELECT 'sources', '', count(*) FILTER (WHERE s.state <> 'gone') FROM sources s
        UNION ALL
        SELECT 'database_bytes', '', pg_database_size(current_database())
    ) f
    ON CONFLICT (figure, label, time) DO UPDATE SET value = excluded.value
$$;

-- Minutes and hours of components, from those of their series, and of places, from their ten seconds and minutes.
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

-- TimescaleDB has policies for it and replaces this.
CREATE FUNCTION forget_places() RETURNS void
    LANGUAGE sql SET search_path = public, pg_temp AS $$
    DELETE FROM place_minutes WHERE time < (SELECT now() - kept_for FROM tier_retention WHERE tier = '1min');
    DELETE FROM place_hours WHERE time < (SELECT now() - kept_for FROM tier_retention WHERE tier = '1h')
$$;

CREATE FUNCTION roll_up_minutes(from_time timestamptz, until_time timestamptz) RETURNS void
    LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM roll_up_components($1, $2);
    PERFORM roll_up_places($1, $2);
END $$;

CREATE FUNCTION roll_up_component_hours(from_time timestamptz, until_time timestamptz) RETURNS void
    LANGUAGE sql SET search_path = public, pg_temp SET jit = off AS $$
    INSERT INTO component_hours
    SELECT s.metric, s.component, h.time, count(*), sum(h.ticks), sum(h.contended_ticks), sum(h.value::double precision),
           max(h.value_max)
    FROM signal_hours h JOIN series s USING (series_id) WHERE h.time >= $1 AND h.time < $2 GROUP BY 1, 2, 3
    ON CONFLICT (metric, component, time) DO UPDATE SET series = excluded.series, ticks = excluded.ticks,
        contended_ticks = excluded.contended_ticks, value_sum = excluded.value_sum, value_max = excluded.value_max
$$;

CREATE FUNCTION roll_up_place_hours(from_time timestamptz, until_time timestamptz) RETURNS void
    LANGUAGE sql SET search_path = public, pg_temp SET jit = off AS $$
    INSERT INTO place_hours
    SELECT kind, name, metric, date_bin('1 hour', time, 'epoch'), max(series), max(contended_series), sum(ticks),
           sum(contended_ticks), avg(value_sum), max(value_max)
    FROM place_minutes WHERE time >= $1 AND time < $2 GROUP BY 1, 2, 3, 4
    ON CONFLICT (kind, name, metric, time) DO UPDATE SET series = excluded.series,
        contended_series = excluded.contended_series, ticks = excluded.ticks, contended_ticks = excluded.contended_ticks,
        value_sum = excluded.value_sum, value_max = excluded.value_max
$$;

CREATE FUNCTION roll_up_hours(from_time timestamptz, until_time timestamptz) RETURNS void
    LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM roll_up_component_hours($1, $2);
    PERFORM roll_up_place_hours($1, $2);
END $$;

-- Bytes of file systems by minute, from the mean rates of clients. A minute counts for a job that ran in a part of it.
CREATE FUNCTION sum_file_system_bytes(from_time timestamptz, until_time timestamptz) RETURNS void
    LANGUAGE sql SET search_path = public, pg_temp SET jit = off AS $$
    DELETE FROM file_system_bytes WHERE time >= $1 AND time < $2;
    WITH moved AS MATERIALIZED (
        SELECT m.time, s.part AS mount, m.series_id, m.value * 60.0 AS bytes
        FROM signal_minutes m JOIN series s USING (series_id) JOIN metrics c USING (metric)
        WHERE m.time >= $1 AND m.time < $2 AND m.value > 0 AND c.measures = 'progress' AND c.unit = 'bytes/s' AND s.part IS NOT NULL
    )
    INSERT INTO file_system_bytes (time, mount, job_id, bytes, seconds)
    SELECT m.time, m.mount, '', sum(m.bytes), 60 FROM moved m GROUP BY 1, 2
    UNION ALL
    SELECT m.time, m.mount, j.job_id, sum(m.bytes), 60
    FROM jobs j JOIN job_series USING (job_id) JOIN moved m USING (series_id)
    WHERE j.start_time < $2 AND (j.end_time IS NULL OR j.end_time > $1)
      AND m.time > j.start_time - interval '1 minute' AND (j.end_time IS NULL OR m.time < j.end_time) GROUP BY 1, 2, 3
$$;

CREATE FUNCTION pack_file_system_bytes(from_time timestamptz, until_time timestamptz) RETURNS void
    LANGUAGE sql SET search_path = public, pg_temp SET jit = off AS $$
    WITH minutes AS (
        DELETE FROM file_system_bytes WHERE time >= $1 AND time < $2 RETURNING time, mount, job_id, bytes
    )
    INSERT INTO file_system_bytes (time, mount, job_id, bytes, seconds)
    SELECT date_bin('1 hour', m.time, 'epoch'), m.mount, m.job_id, sum(m.bytes), 3600 FROM minutes m GROUP BY 1, 2, 3
$$;

-- The hours until `whole` are over: their minutes of bytes are summed again, for rows that came late and jobs that were reported late, six
-- hours back where a partition was behind at the last time. What is older than six hours is packed.
CREATE FUNCTION roll_up_file_system_bytes(hours timestamptz, whole timestamptz) RETURNS void
    LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    by_minute CONSTANT interval := interval '6 hours';
BEGIN
    PERFORM sum_file_system_bytes(greatest(least(bytes_until, $1), $2 - by_minute), $2) FROM roll_up_progress;
    PERFORM pack_file_system_bytes($1 - by_minute, $2 - by_minute);
    DELETE FROM file_system_bytes WHERE time < (SELECT now() - kept_for FROM tier_retention WHERE tier = '1h');
    -- A partition that is further behind than the minutes reach is not waited for.
    UPDATE roll_up_progress SET bytes_until = least($2, (
        SELECT date_bin('1 hour', min(p.event_time), 'epoch') FROM stage_positions p, clock c WHERE p.event_time > c.now - by_minute));
END $$;

-- Sums up what is new, an hour at most; true when more is due. Minutes that ended 30 s before the slowest partition's
-- latest signal are written; partitions that are behind by more than ten minutes do not count. Each minute is summed once
-- more three minutes later, for rows that came late and series that fell silent. The first hour is that of the oldest
-- minute of components.
CREATE FUNCTION roll_up() RETURNS boolean
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
    -- One at a time: a second caller has nothing to do.
    IF NOT pg_try_advisory_xact_lock(x'74625f726f6c6c'::bigint) THEN RETURN false; END IF;
    SELECT * INTO done FROM roll_up_progress;
    SELECT date_bin('1 minute', min(event_time) - interval '30 seconds', 'epoch') INTO due
    FROM stage_positions, clock WHERE event_time > clock.now - interval '10 minutes';
    IF due IS NULL THEN RETURN false; END IF;
    PERFORM place_components();
    PERFORM write_health(due);
    IF done.minutes_until IS NULL THEN
        SELECT min(time) INTO first FROM signal_minutes;
    ELSE
        first := done.minutes_until;
    END IF;
    IF first IS NULL OR due <= first THEN RETURN false; END IF;
    until := least(due, first + interval '1 hour');
    PERFORM roll_up_minutes(first, until);
    PERFORM sum_file_system_bytes(first, until);
    IF done.minutes_until IS NOT NULL THEN
        PERFORM roll_up_minutes(first - late, least(first, until - late));
    END IF;
    -- The first summed hour is that of the oldest minute: a single round seldom contains the end of an hour.
    hours := coalesce(done.hours_until, (SELECT date_bin('1 hour', min(time), 'epoch') FROM component_minutes),
                      date_bin('1 hour', first, 'epoch'));
    UPDATE roll_up_progress SET minutes_until = until, hours_until = hours;
    -- The coarse tier of an hour is complete some minutes later.
    whole := date_bin('1 hour', until - interval '5 minutes', 'epoch');
    IF whole > hours THEN
        PERFORM roll_up_hours(hours, whole);
        PERFORM roll_up_file_system_bytes(hours, whole);
        UPDATE roll_up_progress SET hours_until = whole;
        DELETE FROM component_minutes WHERE time < (SELECT now - interval '7 hours' FROM clock);
        PERFORM forget_places();
        DELETE FROM health_minutes WHERE time < (SELECT now() - kept_for FROM tier_retention WHERE tier = '1min');
    END IF;
    RETURN until < due;
END $$;

-- Sums of places for ten seconds that were written without them. Only for those: a second sum counts twice.
CREATE FUNCTION sum_places(from_time timestamptz, until_time timestamptz) RETURNS void
    LANGUAGE sql SET search_path = public, pg_temp SET jit = off AS $$
    WITH placed AS (
        SELECT 'system' AS kind, '' AS name, s.series_id, s.metric FROM series s
        UNION ALL
        SELECT 'group', coalesce(p.group_name, aries_group(s.component), ''), s.series_id, s.metric
        FROM series s LEFT JOIN component_places p USING (metric, component)
        UNION ALL
        SELECT 'file system', s.part, s.series_id, s.metric FROM series s
        WHERE s.metric IN (SELECT m.metric FROM metrics m WHERE m.measures = 'progress') AND s.part IS NOT NULL
        UNION ALL
        SELECT 'link class', l.class, s.series_id, s.metric FROM series s JOIN link_places l ON l.series = s.name
    )
    INSERT INTO place_buckets (time, value_sum, ticks, contended_ticks, series, contended_series, value_max, kind, name, metric)
    SELECT b.time, sum(b.value::double precision), sum(b.ticks), sum(b.contended_ticks), count(*) FILTER (WHERE b.ticks > 0),
           count(*) FILTER (WHERE b.contended_ticks > 0), max(b.value_max), p.kind, p.name, p.metric
    FROM signal_buckets b JOIN placed p USING (series_id) WHERE b.time >= $1 AND b.time < $2 GROUP BY b.time, p.kind, p.name, p.metric
$$;

-- Deletes episodes, regions and jobs that ended before the given time, with all rows about them, at most `slice` of each;
-- true when more is due.
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
    -- No foreign keys reference `regions` or `jobs`: their rows are deleted here.
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
    progress AS (DELETE FROM job_progress WHERE job_id IN (SELECT job_id FROM gone)),
    moved AS (DELETE FROM file_system_bytes WHERE job_id IN (SELECT job_id FROM gone)),
    mounts AS (DELETE FROM job_mounts WHERE job_id IN (SELECT job_id FROM gone)),
    factors AS (DELETE FROM job_factors WHERE job_id IN (SELECT job_id FROM gone)),
    waits AS (DELETE FROM region_victims WHERE job_id IN (SELECT job_id FROM gone))
    SELECT count(*) INTO deleted FROM gone;
    RETURN more OR deleted = slice;
END $$;

-- Deletes rows before the given times, at most `slice` rows of each table; true when more is due. A null deletes nothing.
-- With the owner's rights: a writer deletes history in no other way. Sums of places are kept as the ten seconds are.
CREATE FUNCTION tailback_expire(raw_before timestamptz, tier_before timestamptz, minutes_before timestamptz,
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
