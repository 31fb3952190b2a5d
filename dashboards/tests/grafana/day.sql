-- A simulated day, 2026-10-15, of a small machine: two groups of 4 Aries routers, the first with its 48 tiles and the others
-- with ten, 16 nodes with two mounts each.
-- Every third hour a job on the first group holds up its neighbours for a quarter of an hour, and writes. Signals of the
-- last two minutes, ten seconds and coarser tiers of the whole day, as the detector's store has them.
INSERT INTO metrics VALUES
    ('aries_stall_ratio', 'Aries router tiles', 'network stalls', 'stalls/flit', 'rising', 'link', NULL),
    ('lustre_write_rate', 'Lustre clients', 'write rate', 'bytes/s', 'falling', 'progress', 'data'),
    ('lustre_metadata_rate', 'Lustre clients', 'metadata operations', 'operations/s', 'falling', 'progress', 'metadata');
INSERT INTO series (name, metric, component, part)
SELECT format('aries_stall_ratio/%s/r%sc%s', r, t / 8, t % 8), 'aries_stall_ratio', r, format('r%sc%s', t / 8, t % 8)
FROM (SELECT n, format('c%s-0c0s%s', n / 4 * 2, n % 4) AS r FROM generate_series(0, 7) AS n) AS routers,
     generate_series(0, 47) AS t WHERE n = 0 OR t % 5 = 0 ORDER BY n, t;
INSERT INTO series (name, metric, component, part)
SELECT format('lustre_write_rate/nid%s/%s', lpad(n::text, 5, '0'), m), 'lustre_write_rate', 'nid' || lpad(n::text, 5, '0'), m
FROM generate_series(0, 15) AS n, unnest(ARRAY['snx11137', 'scratch']) AS m ORDER BY n, m;
INSERT INTO series (name, metric, component, part)
VALUES ('lustre_metadata_rate/nid00009/snx11137', 'lustre_metadata_rate', 'nid00009', 'snx11137');

INSERT INTO producers (producer, schema, component, part, last_time, rows)
SELECT 'nid' || lpad(n::text, 5, '0'), 'aries_rtr', format('c%s-0c0s%s', n / 8 * 2, n / 2 % 4), '', timestamptz '2026-10-15 23:59:59', 86400
FROM generate_series(0, 15) AS n
UNION ALL
SELECT 'nid' || lpad(n::text, 5, '0'), 'lustre_client', 'nid' || lpad(n::text, 5, '0'), m, timestamptz '2026-10-15 23:59:59', 86400
FROM generate_series(0, 15) AS n, unnest(ARRAY['snx11137', 'scratch']) AS m;
INSERT INTO silences (producer, schema, component, part, from_time, until_time)
VALUES ('nid00003', 'lustre_client', 'nid00003', 'scratch', '2026-10-15 07:00', '2026-10-15 08:00'),
       ('nid00015', 'aries_rtr', 'c2-0c0s3', '', '2026-10-15 22:00', NULL);
INSERT INTO dropped_counts VALUES ('detector', 0, 'late', 40), ('detector', 1, 'late', 2), ('aggregator', 0, 'duplicate', 900);

-- Ten-second rows: contended tiles and mounts are those of the first group, in the first quarter of every third hour.
INSERT INTO signal_buckets
SELECT t, CASE WHEN hot THEN extract(epoch FROM t)::integer % 10800 / 3.0 ELSE 0 END, s.series_id, v, v * 0.8, v * 1.3, v, b, 10,
       CASE WHEN hot THEN 8 ELSE 0 END
FROM series s CROSS JOIN generate_series('2026-10-15'::timestamptz, '2026-10-15 23:59:50', '10 seconds') AS t
CROSS JOIN LATERAL (SELECT s.component ~ '^(c0-0|nid0000[0-7])' AND s.series_id % 4 = 0
                           AND extract(epoch FROM t)::integer % 10800 < 900 AS hot,
                           CASE WHEN s.metric = 'lustre_write_rate' THEN 1e9 WHEN s.metric = 'lustre_metadata_rate' THEN 1e3 ELSE 0.5 END AS b) h
CROSS JOIN LATERAL (SELECT CASE WHEN NOT hot THEN b WHEN s.metric = 'lustre_write_rate' THEN b / 3 ELSE b * 6 END AS v) x;
-- Where hours and minutes are not written yet, the views compute them from the ten seconds.
INSERT INTO signal_hours
SELECT time, slowdown_s, series_id, value, value_min, value_max, mean, baseline, ticks, contended_ticks,
       CASE WHEN value < 100 THEN 4e8 END, CASE WHEN value < 100 THEN 4e8 * value END FROM signals_1h;
INSERT INTO signal_minutes
SELECT time, slowdown_s, series_id, value, value_min, value_max, mean, baseline, ticks, contended_ticks,
       CASE WHEN value < 100 THEN 4e8 END, CASE WHEN value < 100 THEN 4e8 * value END FROM signals_1min;
INSERT INTO health_limits VALUES ('data_age_s', 60, 'Seconds since the newest signal'), ('lag_s', 30, 'Seconds from a row''s time to its commit'),
       ('silent_share', 0.05, 'Share of the sources that are silent');
INSERT INTO stage_positions (stage, partition, epoch, owner, commits, position, event_time, committed_at)
VALUES ('detector', 0, 3, 'a-1', 170000, 123456, '2026-10-15 23:59:59', '2026-10-16 00:00:00.4'),
       ('rollup', 0, 2, 'a-1', 170000, 4567, '2026-10-15 23:59:58', '2026-10-16 00:00:00.6');
INSERT INTO signal_rows
SELECT t, 300, s.series_id, b, b, b, b * 1.5, CASE WHEN s.series_id % 16 = 0 THEN 2 ELSE 1 END, 1,
       CASE WHEN b < 100 THEN 4e8 END, CASE WHEN b < 100 THEN 4e8 * b END
FROM series s CROSS JOIN generate_series('2026-10-15 23:58:00'::timestamptz, '2026-10-15 23:59:59', '1 second') AS t
CROSS JOIN LATERAL (SELECT CASE WHEN s.metric = 'lustre_write_rate' THEN 1e9 WHEN s.metric = 'lustre_metadata_rate' THEN 1e3 ELSE 0.5 END AS b) h;

INSERT INTO jobs (job_id, user_name, name, start_time, end_time, app, label)
SELECT (100 + n)::text, 'user' || n % 3, 'app' || n % 2, t, t + interval '1 hour', 'app' || n % 2, CASE WHEN n = 3 THEN '99_3' ELSE '' END
FROM generate_series(0, 22) AS n, LATERAL (SELECT '2026-10-15'::timestamptz + make_interval(hours => n) AS t) s;
INSERT INTO jobs (job_id, user_name, name, start_time, app) VALUES ('200', 'ann', 'cfd', '2026-10-15 20:30', 'cfd');
INSERT INTO job_nodes SELECT job_id, 'nid' || lpad(k::text, 5, '0') FROM jobs, generate_series(0, 7) AS k;
INSERT INTO job_series
SELECT DISTINCT n.job_id, s.series_id FROM job_nodes n JOIN producers p ON p.producer = n.node JOIN series s ON s.component IN (n.node, p.component);
INSERT INTO job_results SELECT job_id, 900, 300, 240, 360, 0.98, 0.98 FROM jobs;
INSERT INTO job_causes SELECT job_id, 0, 'other_job', 'avoidable', '200', 0.6 FROM jobs WHERE job_id <> '200';
INSERT INTO job_factors SELECT job_id, app || ' on 8 nodes', 60, 50, 70, 180, 150, 210, 1.1, 1.0, 1.2, 0.8, 0.6, 1.0, 1, 8, '' FROM jobs;

INSERT INTO episodes
SELECT 0, row_number() OVER (), s.series_id, t, t + interval '15 minutes', t > '2026-10-15 23:00', 3, 0.5, 300, 240, 360, 1,
       jsonb_build_array(jsonb_build_array(extract(epoch FROM t) + 900, 300)),
       '[{"cause": "other_job", "kind": "avoidable", "series_or_job": "200", "share": 0.6}]'
FROM series s, generate_series('2026-10-15'::timestamptz, '2026-10-15 23:00', '3 hours') AS t
WHERE s.component ~ '^(c0-0|nid0000[0-7])' AND s.series_id % 4 = 0;
INSERT INTO regions
SELECT n, 'aries_stall_ratio', 'router c0-0c0s' || n % 4, t, t + interval '15 minutes', n = 8, 24, 40, 3, 'avoidable', 0.9, 0.4,
       'other_job', 0.8, 1
FROM generate_series(1, 8) AS n, LATERAL (SELECT '2026-10-15'::timestamptz + make_interval(hours => 3 * (n - 1)) AS t) s;
INSERT INTO region_steps
SELECT r.region_id, r.start_time + make_interval(mins => k), CASE WHEN k = 0 THEN 'began' ELSE 'grew' END, 0, 10 * (k + 1),
       'aries_stall_ratio/c0-0c0s0/r0c3', 2 + k FROM regions r, generate_series(0, 3) AS k;
INSERT INTO region_series
SELECT r.region_id, s.name, row_number() OVER (PARTITION BY r.region_id ORDER BY s.series_id) - 1
FROM regions r, series s WHERE s.component = 'c0-0c0s0' AND s.series_id % 4 = 0;
INSERT INTO region_causes SELECT region_id, 0, 'other_job', '200', 0.6, 0.8, '["nodes_on_router", "change_point"]' FROM regions;
INSERT INTO region_causes VALUES (8, 1, 'other_job', '121', 0.2, 0.7, '["nodes_on_router"]');
INSERT INTO region_victims VALUES (8, '200', 1, 30, 24, 36, 0.2);
INSERT INTO region_victims SELECT r.region_id, j.job_id, 0, 120, 100, 140, 0.5 FROM regions r JOIN jobs j
ON j.start_time < r.end_time AND coalesce(j.end_time, 'infinity') > r.start_time WHERE j.job_id <> '200';

INSERT INTO link_places
SELECT s.name, CASE WHEN s.part ~ '^r[0-3]' THEN 'green' WHEN s.part ~ '^r4' THEN 'blue' ELSE 'host' END, 'c0-0c0s1', s.component,
       CASE WHEN s.part ~ '^r4' THEN 'group 0 to group 1' ELSE '' END, 5.25e9
FROM series s WHERE s.metric = 'aries_stall_ratio';
INSERT INTO health_minutes VALUES ('dropped_rows', 'late', '2026-10-15 12:00', 20), ('dropped_rows', 'late', '2026-10-15 12:01', 30);
-- The configuration of this machine keeps everything.
UPDATE tier_retention SET kept_for = NULL;

-- As in the detector's store, in addition to the ten seconds.
SELECT sum_places('-infinity', 'infinity');
