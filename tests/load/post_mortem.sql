-- A month of a part of a Trinity: `routers` of 40 tiles, `clients` with a mount each, `series` in all (`sizes` has the numbers). Left
-- out: raw signals and the tiers of ten seconds and of a minute, which no answer about a finished job reads.
-- `one_of` is 1; to try the statements alone only each hundredth row of the long tables is made. Each `tier_of`-th series has the tiers.
\set ON_ERROR_STOP on
SET synchronous_commit = off;
SET work_mem = '256MB';
SET maintenance_work_mem = '1GB';
SELECT setseed(0.42);
-- The rows are older than some retentions; refreshes and compression are called here.
SELECT $$SELECT alter_job(job_id, scheduled => false) FROM timescaledb_information.jobs WHERE proc_name IN ('policy_retention', 'policy_compression')$$
WHERE EXISTS (SELECT FROM pg_extension WHERE extname = 'timescaledb') \gexec

INSERT INTO series (name, metric, component, part)
SELECT format('aries_stall_ratio/%s/r%sc%s', r, t / 8, t % 8), 'aries_stall_ratio', r, format('r%sc%s', t / 8, t % 8)
FROM (SELECT n, format('c%s-0c%ss%s', n / 48, n / 16 % 3, n % 16) AS r FROM generate_series(0, :routers - 1) AS n) AS routers,
     generate_series(0, 39) AS t ORDER BY n, t;
INSERT INTO series (name, metric, component, part)
SELECT format('%s/nid%s/snx11137', m, lpad(n::text, 5, '0')), m, 'nid' || lpad(n::text, 5, '0'), 'snx11137'
FROM generate_series(0, :clients - 1) AS n, unnest(:'client_metrics'::text[]) AS m ORDER BY n, m;
INSERT INTO producers (producer, schema, component, last_time, rows)
SELECT 'nid' || lpad(n::text, 5, '0'), 'aries_rtr', format('c%s-0c%ss%s', n / 4 / 48, n / 4 / 16 % 3, n / 4 % 16),
       '2026-10-31', 2592000 FROM generate_series(0, :clients - 1) AS n;

-- Episodes, each with a profile of sixteen points, in the order of time as they are written.
INSERT INTO episodes
SELECT 0, row_number() OVER (), s, start, start + make_interval(secs => span), false, 4, 0.5, span / 3, span / 4, span / 2, 1,
       (SELECT jsonb_agg(jsonb_build_array(extract(epoch FROM start) + span * p / 16, span / 3 * p / 16) ORDER BY p)
        FROM generate_series(1, 16) AS p WHERE s > 0),
       '[{"cause": "other_job", "kind": "avoidable", "series_or_job": "17", "share": 0.5}]'
FROM (SELECT 1 + (random() * (:series - 1))::integer AS s, timestamptz '2026-10-01' + make_interval(secs => n * 2592000.0 / :episodes) AS start,
             20 + 280 * random() AS span
      FROM generate_series(0, :episodes - 1, :one_of) AS n) AS e;

-- Jobs on 16 to 112 nodes, and one of a day on a thousand.
INSERT INTO jobs (job_id, user_name, name, start_time, end_time, app)
SELECT n::text, 'user' || n % 90, 'app' || n % 40, start, start + make_interval(secs => 600 + 20000 * random()), 'app' || n % 40
FROM (SELECT n, timestamptz '2026-10-01' + make_interval(secs => n * 2592000.0 / :jobs) AS start FROM generate_series(1, :jobs) AS n) AS j;
INSERT INTO jobs (job_id, user_name, name, start_time, end_time, app)
VALUES ('big', 'ann', 'cfd', '2026-10-15', '2026-10-16', 'cfd');
ALTER TABLE job_nodes DISABLE TRIGGER job_nodes_put; -- its table of new rows would be as large
INSERT INTO job_nodes
SELECT job_id, 'nid' || lpad(((n * 37 + k) % :clients)::text, 5, '0')
FROM (SELECT job_id, job_id::integer AS n, 16 + 4 * (job_id::integer % 25) AS nodes FROM jobs WHERE job_id <> 'big') AS j,
     LATERAL generate_series(0, nodes - 1) AS k;
INSERT INTO job_nodes SELECT 'big', 'nid' || lpad(k::text, 5, '0') FROM generate_series(500, 1499) AS k;
ALTER TABLE job_nodes ENABLE TRIGGER job_nodes_put;
INSERT INTO job_sizes SELECT job_id, count(*) FROM job_nodes GROUP BY 1;
ALTER TABLE job_series DROP CONSTRAINT job_series_pkey;
DROP INDEX job_series_by_series;
ALTER TABLE job_series DISABLE TRIGGER job_series_put;
INSERT INTO job_series
SELECT n.job_id, s.series_id FROM job_nodes n JOIN series s ON s.component = n.node
UNION ALL
SELECT r.job_id, s.series_id
FROM (SELECT DISTINCT n.job_id, p.component FROM job_nodes n JOIN producers p ON p.producer = n.node) r JOIN series s USING (component);
ALTER TABLE job_series ADD PRIMARY KEY (job_id, series_id);
CREATE INDEX job_series_by_series ON job_series (series_id);
ALTER TABLE job_series ENABLE TRIGGER job_series_put;
INSERT INTO job_mounts SELECT job_id, 'snx11137' FROM jobs;
INSERT INTO job_results
SELECT job_id, 1000 * random(), 500, 400, 600, 0.98 FROM jobs;
INSERT INTO job_causes
SELECT job_id, k, 'other_job', 'avoidable', (1 + (random() * (:jobs - 1))::integer)::text, 0.2 FROM jobs, generate_series(0, 3) AS k;
INSERT INTO job_factors
SELECT job_id, app, 100, 80, 120, 400, 300, 500, 1.2, 1.1, 1.3, 0.5, 0.4, 0.6, 3, 12, '' FROM jobs;

-- Regions of 64 series, with five causes and ten victims; the thousand nodes meet most of a day's.
INSERT INTO regions
SELECT n, 'aries_stall_ratio', 'router ' || n % :routers, start, start + interval '10 minutes', false, 64, 80, 6, 'avoidable', 0.9, 0.5,
       'other_job', 0.8, 1
FROM (SELECT n, timestamptz '2026-10-01' + make_interval(secs => n * 2592000.0 / :regions) AS start FROM generate_series(1, :regions) AS n) AS r;
INSERT INTO region_steps
SELECT n, timestamptz '2026-10-01' + make_interval(secs => n * 2592000.0 / :regions + 30 * k), 'grew', 0, k * 4, 'aries_stall_ratio/c0-0c0s0/r0c0', 5
FROM generate_series(1, :regions) AS n, generate_series(1, 20) AS k;
INSERT INTO region_series
SELECT n, s.name, k FROM generate_series(1, :regions) AS n, generate_series(0, 63) AS k
JOIN LATERAL (SELECT name FROM series WHERE series_id = 1 + (n * 61 + k) % (40 * :routers)) s ON true;
INSERT INTO region_causes
SELECT n, k, 'other_job', (1 + (n * 7 + k * 13) % :jobs)::text, 0.15, 0.8, '["nodes_on_router", "change_point"]'
FROM generate_series(1, :regions) AS n, generate_series(0, 4) AS k;
INSERT INTO region_victims
SELECT n, (1 + (n * 3 / 2 + k) % :jobs)::text, k, 30 - k, 25 - k, 35 - k, 0.09 FROM generate_series(1, :regions) AS n, generate_series(0, 8) AS k;
INSERT INTO region_victims SELECT region_id, 'big', 9, 12, 10, 14, 0.1 FROM regions
WHERE start_time BETWEEN '2026-10-15' AND '2026-10-16';

-- The tier of an hour, straight into the table that keeps it; no answer that is measured reads it.
INSERT INTO signal_hours
SELECT timestamptz '2026-10-01' + make_interval(hours => h), h, s, 0.7, 0.5, 4, 0.7, 0.5, 3600, 600
FROM generate_series(0, 719) AS h, generate_series(1, :series, :tier_of) AS s;
SELECT $$SELECT count(compress_chunk(c)) FROM show_chunks('signal_hours') AS c$$ WHERE EXISTS (SELECT FROM pg_extension WHERE extname = 'timescaledb') \gexec
VACUUM ANALYZE;
