-- Beside post_mortem.sql, what dashboards read of a month: sums of groups, mounts and classes by ten seconds since `ten_s_from`
-- and by minute before, of components by hour since `hours_from`, and by minute for seven hours; the minutes of each `tier_of`-th series for
-- six hours, and for the whole month of each two-hundredth of these and of those that panels draw alone; ten seconds of the former for an hour
-- and of the latter for six; signals of the former for ten minutes and of the latter for an hour; the latest signal of all. Everything ends with the
-- month. `one_of` and `tier_of` as in post_mortem.sql.
\set ON_ERROR_STOP on
SET synchronous_commit = off;
UPDATE tier_retention SET kept_for = NULL;
INSERT INTO stage_positions (stage, partition, epoch, owner, commits, position, event_time, committed_at)
SELECT 'detector', p, 1, 'a', 1000000, 1000000, '2026-10-30 23:59:59', '2026-10-31 00:00:00' FROM generate_series(0, 11) AS p;
SELECT place_components();
INSERT INTO link_places
SELECT name, (ARRAY['green', 'black', 'blue', 'host'])[1 + series_id % 4], component, component,
       CASE WHEN series_id % 4 = 2 THEN 'group ' || series_id % 37 || ' to group ' || series_id % 41 ELSE '' END, 5.25e9
FROM series WHERE metric = 'aries_stall_ratio';
-- A part for each ten seconds of the latest days, and for each minute before, as of the time before there were ten seconds.
CREATE TEMPORARY TABLE places AS
SELECT DISTINCT 'group' AS kind, group_name AS name, metric FROM component_places
UNION ALL SELECT DISTINCT 'system', '', metric FROM component_places
UNION ALL SELECT DISTINCT 'link class', class, 'aries_stall_ratio' FROM link_places
UNION ALL SELECT 'file system', 'snx11137', 'lustre_write_rate';
INSERT INTO place_buckets (time, value_sum, ticks, contended_ticks, series, contended_series, value_max, kind, name, metric)
SELECT t, 2e11, 960 * s.seconds, 100 * (extract(epoch FROM t)::integer / 600 % 5) * s.seconds / 60, 960,
       40 * (extract(epoch FROM t)::integer / 600 % 5), 4, kind, name, metric
FROM places, (VALUES ('2026-10-01'::timestamptz, :'ten_s_from'::timestamptz - interval '1 minute', 60),
                     (:'ten_s_from', '2026-10-30 23:59:50', 10)) AS s (from_time, until_time, seconds),
     LATERAL generate_series(s.from_time, s.until_time, make_interval(secs => s.seconds)) AS t;
-- As the server's policies or `roll_up` do once a minute.
SELECT format('CALL refresh_continuous_aggregate(%L, NULL, NULL)', a)
FROM unnest(ARRAY['places_10s', 'places_1min', 'places_1h']) AS a WHERE EXISTS (SELECT FROM pg_extension WHERE extname = 'timescaledb') \gexec
SELECT $$SELECT roll_up_places('-infinity', 'infinity'), roll_up_place_hours('-infinity', '2026-10-30 23:00')$$
WHERE to_regproc('roll_up_places') IS NOT NULL \gexec
UPDATE roll_up_progress SET minutes_until = '2026-10-30 23:59', hours_until = '2026-10-30 23:00';
INSERT INTO component_hours
SELECT metric, component, t, CASE WHEN metric = 'aries_stall_ratio' THEN 40 ELSE 1 END, 144000, 9000, 20, 4
FROM component_places, generate_series(:'hours_from'::timestamptz, '2026-10-30 23:00', '1 hour') AS t;
-- Bytes of each job, and of all clients without a job's number: by hour, and by minute for the latest seven hours.
INSERT INTO file_system_bytes (time, mount, job_id, bytes, seconds)
SELECT t, 'snx11137', r.job_id, r.bytes_per_s * s.seconds, s.seconds
FROM (SELECT job_id, start_time, end_time, 8e5 * nodes AS bytes_per_s FROM jobs JOIN job_sizes USING (job_id)
      UNION ALL
      SELECT '', '2026-10-01', '2026-10-31', 8e5 * :clients) AS r,
     (VALUES ('2026-10-01'::timestamptz, '2026-10-30 16:00'::timestamptz, 3600), ('2026-10-30 17:00', '2026-10-30 23:59', 60))
     AS s (from_time, until_time, seconds),
     LATERAL generate_series(greatest(s.from_time, date_bin(make_interval(secs => s.seconds), r.start_time, 'epoch')),
                             least(s.until_time, r.end_time - interval '1 second'), make_interval(secs => s.seconds)) AS t;
INSERT INTO component_minutes
SELECT metric, component, t, CASE WHEN metric = 'aries_stall_ratio' THEN 2400 ELSE 60 END, 150
FROM component_places, generate_series('2026-10-30 17:00'::timestamptz, '2026-10-30 23:59', '1 minute') AS t;
INSERT INTO health_minutes
SELECT figure, label, t, 100 + extract(epoch FROM t - '2026-10-01') / 60
FROM (VALUES ('lag_s', 'detector'), ('lag_s', 'rollup'), ('dropped_rows', 'late'), ('dropped_rows', 'duplicate'),
             ('dropped_rows', 'standby'), ('silent_sources', ''), ('sources', ''), ('database_bytes', '')) AS f (figure, label),
     generate_series('2026-10-01'::timestamptz, '2026-10-30 23:59', '1 minute') AS t;
-- Two percent of the sources are silent once a day for some minutes.
INSERT INTO silences
SELECT producer, schema, component, d + make_interval(mins => n::integer), d + make_interval(mins => n::integer + 5), part
FROM (SELECT *, row_number() OVER (ORDER BY producer) AS n FROM producers) p, generate_series('2026-10-01'::timestamptz, '2026-10-30', '1 day') AS d
WHERE n % 50 = 0;

-- Drawn alone: the series of the explorer, and those that cost the job most.
CREATE TEMPORARY TABLE drawn AS
SELECT series_id FROM series WHERE name = 'aries_stall_ratio/c0-0c0s0/r0c3' OR series_id % (200 * :tier_of) = 0
UNION
(SELECT series_id FROM job_episodes WHERE job_id = 'big' GROUP BY 1 ORDER BY sum(lost_s) DESC, 1 LIMIT 10);
INSERT INTO signal_minutes
SELECT t, 1, s, 0.7, 0.5, 4, 0.7, 0.5, 60, CASE WHEN s % 50 < 3 THEN 20 ELSE 0 END, 4e8 + s, 3e8 - s FROM generate_series(1, :series, :one_of * :tier_of) AS s,
       generate_series(timestamptz '2026-10-30 18:00', '2026-10-30 23:59', '1 minute') AS t
UNION ALL
SELECT t, 1, series_id, 0.7, 0.5, 4, 0.7, 0.5, 60, 0, 4e8, 3e8 FROM drawn,
       generate_series(timestamptz '2026-10-01', '2026-10-30 17:59', '1 minute') AS t;
SELECT $$SELECT count(compress_chunk(c)) FROM show_chunks('signal_minutes') AS c$$ WHERE EXISTS (SELECT FROM pg_extension WHERE extname = 'timescaledb') \gexec

INSERT INTO signal_buckets
SELECT t, 1, s, 0.7, 0.5, 4, 0.7, 0.5, 10, CASE WHEN s % 50 < 3 THEN 5 ELSE 0 END
FROM generate_series('2026-10-30 23:00'::timestamptz, '2026-10-30 23:59:50', '10 seconds') AS t, generate_series(1, :series, :one_of * :tier_of) AS s
UNION ALL
SELECT t, 1, series_id, 0.7, 0.5, 4, 0.7, 0.5, 10, 0
FROM generate_series('2026-10-30 18:00'::timestamptz, '2026-10-30 22:59:50', '10 seconds') AS t, drawn;
INSERT INTO signal_rows
SELECT t + make_interval(secs => s % 10), 1, s, 0.7, 0.7, 0.5, 1, 1, 10
FROM generate_series('2026-10-30 23:50'::timestamptz, '2026-10-30 23:59:40', '10 seconds') AS t, generate_series(1, :series, :one_of * :tier_of) AS s
WHERE s NOT IN (SELECT series_id FROM drawn);
INSERT INTO signal_rows
SELECT t, 1, series_id, 4, 4, 0.5, 1, 2, 1, 4e8, 1.6e9
FROM generate_series('2026-10-30 23:00'::timestamptz, '2026-10-30 23:59:49', '1 second') AS t, drawn;
-- What is older than two hours would be packed; so is the last hour here.
SELECT $$SELECT count(compress_chunk(c)) FROM show_chunks('signal_rows') AS c$$ WHERE EXISTS (SELECT FROM pg_extension WHERE extname = 'timescaledb') \gexec
SELECT $$SELECT count(compress_chunk(c)) FROM show_chunks('signal_buckets') AS c$$ WHERE EXISTS (SELECT FROM pg_extension WHERE extname = 'timescaledb') \gexec

-- The newest rows lie in the heap, as they do before the policy comes by.
INSERT INTO signal_rows
SELECT timestamptz '2026-10-30 23:59:50' + make_interval(secs => s % 10), 1, s, 0.7, 0.7, 0.5, 1, CASE WHEN s % 50 < 3 THEN 2 ELSE 1 END, 10
FROM generate_series(1, :series, :one_of) AS s;
VACUUM ANALYZE;
