-- Signals of a span in the tier that fits: the coarsest that still has a row for each step, and none that is expired at
-- the start of the span. The steps are compared while the query is planned: only tables that are read are in the plan.
CREATE FUNCTION signals_over(from_time timestamptz, until_time timestamptz, step_s double precision)
    RETURNS TABLE (series_id integer, at_time timestamptz, value double precision, value_min double precision,
                   value_max double precision, mean double precision, baseline double precision, bound double precision,
                   ticks bigint, contended_ticks bigint, slowdown_s double precision)
    LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT r.series_id, r.time, r.value::double precision, r.value::double precision, r.value::double precision,
           r.mean::double precision, r.baseline::double precision, r.bound::double precision, r.ticks::bigint,
           CASE WHEN r.state = 2 THEN r.ticks ELSE 0 END::bigint, r.slowdown_s
    FROM signal_rows r
    WHERE $3 < 10 AND r.time >= $1 AND r.time <= $2
      AND (SELECT coalesce($1 >= now() - t.kept_for, true) FROM tier_retention t WHERE t.tier = 'raw')
    UNION ALL
    SELECT b.series_id, b.time, b.value::double precision, b.value_min::double precision, b.value_max::double precision,
           b.mean::double precision, b.baseline::double precision, NULL::double precision, b.ticks::bigint,
           b.contended_ticks::bigint, b.slowdown_s
    FROM signal_buckets b
    WHERE $3 < 60 AND b.time >= $1 - interval '10 seconds' AND b.time <= $2
      AND ($3 >= 10 OR NOT (SELECT coalesce($1 >= now() - t.kept_for, true) FROM tier_retention t WHERE t.tier = 'raw'))
      AND (SELECT coalesce($1 >= now() - t.kept_for, true) FROM tier_retention t WHERE t.tier = '10s')
    UNION ALL
    SELECT m.series_id, m.time, m.value::double precision, m.value_min::double precision, m.value_max::double precision,
           m.mean::double precision, m.baseline::double precision, NULL::double precision, m.ticks::bigint,
           m.contended_ticks::bigint, m.slowdown_s
    FROM signals_1min m
    WHERE $3 < 900 AND m.time >= $1 - interval '1 minute' AND m.time <= $2
      AND ($3 >= 60 OR NOT (SELECT coalesce($1 >= now() - t.kept_for, true) FROM tier_retention t WHERE t.tier = '10s'))
      AND (SELECT coalesce($1 >= now() - t.kept_for, true) FROM tier_retention t WHERE t.tier = '1min')
    UNION ALL
    SELECT h.series_id, h.time, h.value::double precision, h.value_min::double precision, h.value_max::double precision,
           h.mean::double precision, h.baseline::double precision, NULL::double precision, h.ticks::bigint,
           h.contended_ticks::bigint, h.slowdown_s
    FROM signals_1h h
    WHERE h.time >= $1 - interval '1 hour' AND h.time <= $2
      AND ($3 >= 900 OR NOT (SELECT coalesce($1 >= now() - t.kept_for, true) FROM tier_retention t WHERE t.tier = '1min'))
$$;

-- Counters of one series in a span, in the tier that fits its steps: where the step is below ten seconds, stored ticks and
-- the rest of each minute without them; else minutes, and hours where the step is a quarter of an hour or minutes are not kept
-- so long. Steps are compared while the query is planned: only tables that are read are in the plan.
CREATE FUNCTION counters_over(asked text, from_time timestamptz, until_time timestamptz, step_s double precision)
    RETURNS TABLE (at_time timestamptz, passed_per_s double precision, waited_per_s double precision, ticks bigint)
    LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT r.time, r.passed_per_s::double precision, r.waited_per_s::double precision, r.ticks::bigint
    FROM signal_rows r
    WHERE $4 < 10 AND r.series_id = (SELECT s.series_id FROM series s WHERE s.name = $1) AND r.time >= $2 AND r.time <= $3
      AND r.passed_per_s IS NOT NULL
      AND (SELECT coalesce($2 >= now() - t.kept_for, true) FROM tier_retention t WHERE t.tier = '1min')
    UNION ALL
    SELECT m.time, greatest(m.passed_per_s * m.ticks - coalesce(k.passed, 0), 0) / (m.ticks - coalesce(k.ticks, 0)),
           greatest(m.waited_per_s * m.ticks - coalesce(k.waited, 0), 0) / (m.ticks - coalesce(k.ticks, 0)),
           m.ticks - coalesce(k.ticks, 0)
    FROM signals_1min m LEFT JOIN (
        SELECT date_bin('1 minute', r.time, 'epoch') AS minute, count(*) AS ticks, sum(r.passed_per_s::double precision) AS passed,
               sum(r.waited_per_s::double precision) AS waited
        FROM signal_rows r
        WHERE $4 < 10 AND r.series_id = (SELECT s.series_id FROM series s WHERE s.name = $1) AND r.time >= $2 AND r.time <= $3
          AND r.passed_per_s IS NOT NULL
        GROUP BY 1
    ) k ON k.minute = m.time
    WHERE $4 < 900 AND m.series_id = (SELECT s.series_id FROM series s WHERE s.name = $1) AND m.time > $2 - interval '1 minute' AND m.time <= $3
      AND m.passed_per_s IS NOT NULL AND m.ticks > coalesce(k.ticks, 0)
      AND (SELECT coalesce($2 >= now() - t.kept_for, true) FROM tier_retention t WHERE t.tier = '1min')
    UNION ALL
    SELECT h.time, h.passed_per_s::double precision, h.waited_per_s::double precision, h.ticks
    FROM signals_1h h
    WHERE h.series_id = (SELECT s.series_id FROM series s WHERE s.name = $1) AND h.time > $2 - interval '1 hour' AND h.time <= $3
      AND h.passed_per_s IS NOT NULL
      AND ($4 >= 900 OR NOT (SELECT coalesce($2 >= now() - t.kept_for, true) FROM tier_retention t WHERE t.tier = '1min'))
$$;

-- Until when the slowest partition has signals, without partitions that are behind by more than ten minutes, as for the
-- minutes of series. Only whole sums are returned: twenty seconds after their end every series that reports has written its own.
CREATE FUNCTION places_known_until() RETURNS timestamptz
    LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT coalesce(min(p.event_time), 'infinity') FROM stage_positions p, clock c
    WHERE p.stage = 'detector' AND p.event_time > c.now - interval '10 minutes'
$$;

-- Sums of places in a span in the tier that fits, as `signals_over` chooses it: the coarsest that still has a row for each step,
-- and none that is expired at the start of the span.
CREATE FUNCTION places_over(asked text, from_time timestamptz, until_time timestamptz, step_s double precision)
    RETURNS TABLE (name text, metric text, at_time timestamptz, series bigint, contended_series bigint, ticks bigint,
                   contended_ticks bigint, value_sum double precision, value_max double precision)
    LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT p.name, p.metric, p.time, p.series, p.contended_series, p.ticks, p.contended_ticks, p.value_sum, p.value_max
    FROM places_10s p
    WHERE $4 < 60 AND p.kind = $1 AND p.time > $2 - interval '10 seconds' AND p.time <= $3
      AND p.time <= (SELECT places_known_until() - interval '30 seconds')
      AND (SELECT coalesce($2 >= now() - t.kept_for, true) FROM tier_retention t WHERE t.tier = '10s')
    UNION ALL
    SELECT p.name, p.metric, p.time, p.series, p.contended_series, p.ticks, p.contended_ticks, p.value_sum, p.value_max
    FROM places_1min p
    WHERE $4 < 3600 AND p.kind = $1 AND p.time > $2 - interval '1 minute' AND p.time <= $3
      AND p.time <= (SELECT places_known_until() - interval '90 seconds')
      AND ($4 >= 60 OR NOT (SELECT coalesce($2 >= now() - t.kept_for, true) FROM tier_retention t WHERE t.tier = '10s'))
      AND (SELECT coalesce($2 >= now() - t.kept_for, true) FROM tier_retention t WHERE t.tier = '1min')
    UNION ALL
    SELECT p.name, p.metric, p.time, p.series, p.contended_series, p.ticks, p.contended_ticks, p.value_sum, p.value_max
    FROM places_1h p
    WHERE p.kind = $1 AND p.time > $2 - interval '1 hour' AND p.time <= $3
      AND ($4 >= 3600 OR NOT (SELECT coalesce($2 >= now() - t.kept_for, true) FROM tier_retention t WHERE t.tier = '1min'))
$$;

-- Seconds of a column in a map of many places over a span: at most 360 columns. From a quarter of an hour on they are hours, of which
-- there are sixty times fewer rows than of minutes.
CREATE FUNCTION map_step_s(from_time timestamptz, until_time timestamptz, step_s double precision) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN w.step_s < 900 THEN w.step_s ELSE greatest(w.step_s, 3600) END
    FROM (SELECT greatest(10, $3, extract(epoch FROM $2 - $1)::double precision / 360) AS step_s) w
$$;

-- Size of the tables, and of those in the columnstore what they would take without it.
CREATE FUNCTION storage_sizes()
    RETURNS TABLE (name text, bytes bigint, uncompressed_bytes bigint, compressed_bytes bigint)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT c.relname::text, pg_total_relation_size(c.oid), NULL::bigint, NULL::bigint
    FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' ORDER BY 2 DESC
$$;
