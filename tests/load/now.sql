-- Beside dashboards.sql, what is ongoing at the end of the month: jobs that run, their open episodes and regions, and `incidents` of
-- file systems through the month, each of ten minutes to two hours, the latest two still firing.
\set ON_ERROR_STOP on
SET synchronous_commit = off;
UPDATE jobs SET end_time = NULL WHERE end_time > (SELECT now FROM clock);
UPDATE episodes SET open = true, end_time = (SELECT now FROM clock)
WHERE (source_partition, id) IN (SELECT source_partition, id FROM episodes WHERE start_time < (SELECT now FROM clock) ORDER BY start_time DESC LIMIT 620);
UPDATE regions SET open = true, end_time = (SELECT now FROM clock)
WHERE region_id IN (SELECT region_id FROM regions WHERE start_time < (SELECT now FROM clock) ORDER BY start_time DESC LIMIT 5);
INSERT INTO alert_incidents
SELECT lpad(to_hex(n), 16, '0'), 'storage', 'warning', 'snx11137', CASE WHEN is_open THEN 'firing' ELSE 'resolved' END, s, s + 60,
       CASE WHEN NOT is_open THEN s + 600 * (1 + n % 12) END, s + 600 * (1 + n % 12) + 86400, 1, 'throttle_io', 'clients of snx11137 are slow',
       jsonb_build_object('labels', jsonb_build_object('mount', 'snx11137', 'metric', 'lustre_write_rate'), 'members', 320, 'slowdown_s', 30,
                          'slowdown_lo_s', 25, 'slowdown_hi_s', 35, 'completeness', 1)
FROM (SELECT n, extract(epoch FROM timestamptz '2026-10-01') + (n - 0.5) * 2592000.0 / :incidents AS s, n > :incidents - 2 AS is_open
      FROM generate_series(1, :incidents) AS n) AS i;
-- As `tailback run` does once a minute, 20 incidents each time, of which the open ones are summed again.
SELECT sum_storage_losses() FROM generate_series(1, :incidents, 15);
VACUUM ANALYZE jobs, episodes, regions, alert_incidents, storage_losses;
