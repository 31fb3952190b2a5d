-- What the raw counters behind a ratio did: flits and stalls of an Aries tile, words and ticks waited of an InfiniBand port. Of each
-- tick that is kept as a row of its own (contended, or every one), and of minutes and hours as means. Rows of the ten seconds of a
-- quiet series have none, and neither have Lustre clients, whose reading is their counter's rate, nor routers as a whole.
ALTER TABLE signal_rows ADD COLUMN passed_per_s real, ADD COLUMN waited_per_s real;
ALTER TABLE signal_minutes ADD COLUMN passed_per_s real, ADD COLUMN waited_per_s real;
ALTER TABLE signal_hours ADD COLUMN passed_per_s real, ADD COLUMN waited_per_s real;

CREATE OR REPLACE VIEW signals AS
SELECT series_id, time, value, mean, baseline, bound, tailback_state(state) AS state, slowdown_s, ticks, passed_per_s, waited_per_s
FROM signal_rows;

-- As before, with the counters. Minutes that are not written yet are made of the ten seconds, which have none.
CREATE OR REPLACE FUNCTION tailback_tier_views() RETURNS void
    LANGUAGE plpgsql SET search_path = public, pg_temp AS $do$
BEGIN
    CREATE OR REPLACE VIEW signals_1min AS
    SELECT series_id, time, value::double precision AS value, value_min, value_max, mean::double precision AS mean,
           baseline::double precision AS baseline, ticks::bigint AS ticks, contended_ticks::bigint AS contended_ticks, slowdown_s,
           passed_per_s, waited_per_s
    FROM signal_minutes WHERE time < minutes_written_until()
    UNION ALL
    SELECT series_id, date_bin('1 minute', time, 'epoch'),
           sum(value * ticks) / nullif(sum(ticks) FILTER (WHERE value IS NOT NULL), 0),
           min(value_min) FILTER (WHERE ticks > 0), max(value_max) FILTER (WHERE ticks > 0),
           avg(mean) FILTER (WHERE ticks > 0), avg(baseline) FILTER (WHERE ticks > 0),
           sum(ticks), sum(contended_ticks),
           coalesce((array_agg(slowdown_s ORDER BY time DESC) FILTER (WHERE ticks > 0))[1], max(slowdown_s)),
           NULL, NULL
    FROM signal_buckets WHERE time >= minutes_written_until() GROUP BY 1, 2;

    CREATE OR REPLACE VIEW signals_1h AS
    SELECT series_id, time, value::double precision AS value, value_min, value_max, mean::double precision AS mean,
           baseline::double precision AS baseline, ticks::bigint AS ticks, contended_ticks::bigint AS contended_ticks, slowdown_s,
           passed_per_s, waited_per_s
    FROM signal_hours WHERE time < date_bin('1 hour', minutes_written_until(), 'epoch')
    UNION ALL
    SELECT series_id, date_bin('1 hour', time, 'epoch'),
           sum(value * ticks) / nullif(sum(ticks) FILTER (WHERE value IS NOT NULL), 0),
           min(value_min) FILTER (WHERE ticks > 0), max(value_max) FILTER (WHERE ticks > 0),
           avg(mean) FILTER (WHERE ticks > 0), avg(baseline) FILTER (WHERE ticks > 0),
           sum(ticks)::bigint, sum(contended_ticks)::bigint,
           coalesce((array_agg(slowdown_s ORDER BY time DESC) FILTER (WHERE ticks > 0))[1], max(slowdown_s)),
           (sum(passed_per_s * ticks) / nullif(sum(ticks) FILTER (WHERE passed_per_s IS NOT NULL), 0))::real,
           (sum(waited_per_s * ticks) / nullif(sum(ticks) FILTER (WHERE waited_per_s IS NOT NULL), 0))::real
    FROM signals_1min WHERE time >= date_bin('1 hour', minutes_written_until(), 'epoch') GROUP BY 1, 2;

    GRANT SELECT ON signals_1min, signals_1h TO tailback_writer, tailback_reader;
END $do$;
SELECT tailback_tier_views();

-- Counters of one series in a span, in the tier that fits its steps: where the step is below ten seconds ticks that are kept, and
-- what is left of each minute without them; else minutes, and hours where the step is a quarter of an hour or minutes are not kept
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
REVOKE EXECUTE ON FUNCTION counters_over FROM PUBLIC;
GRANT EXECUTE ON FUNCTION counters_over TO tailback_writer, tailback_reader;
