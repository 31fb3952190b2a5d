-- Jobs by bytes read and written in the span, in the latest six hours of longer ones, from the mean rates of their clients while they ran: by
-- hours that are written where the span is six hours or minutes have expired, and by minutes else and after the last such hour.
-- Clients are joined before anything is summed: an array of them would be searched for each row.
WITH span AS (
    SELECT f AS from_time, $__timeTo()::timestamptz - f >= interval '6 hours'
           OR NOT (SELECT coalesce(f >= now() - kept_for, true) FROM tier_retention WHERE tier = '1min') AS by_hours
    FROM (SELECT greatest($__timeFrom()::timestamptz, $__timeTo()::timestamptz - interval '6 hours') AS f) x
), clients AS (
    SELECT s.series_id FROM series s JOIN metrics m USING (metric)
    WHERE m.measures = 'progress' AND m.unit = 'bytes/s' AND s.part IN (${mount:sqlstring})
), rates AS (
    SELECT h.series_id, h.time AS at_time, interval '1 hour' AS step, h.value * 3600.0 AS bytes
    FROM signal_hours h JOIN clients USING (series_id)
    WHERE (SELECT by_hours FROM span) AND h.value > 0 AND h.time <= $__timeTo() AND h.time < date_bin('1 hour', minutes_written_until(), 'epoch')
      AND h.time >= greatest($__timeFrom()::timestamptz, $__timeTo()::timestamptz - interval '6 hours') - interval '1 hour'
    UNION ALL
    SELECT m.series_id, m.time, interval '1 minute', m.value * 60.0
    FROM signals_1min m JOIN clients USING (series_id)
    WHERE m.value > 0 AND m.time <= $__timeTo()
      AND m.time >= greatest($__timeFrom()::timestamptz, $__timeTo()::timestamptz - interval '6 hours') - interval '1 minute'
      AND m.time >= (SELECT CASE WHEN by_hours THEN date_bin('1 hour', minutes_written_until(), 'epoch') ELSE '-infinity' END FROM span)
), runs AS (
    SELECT j.job_id, j.start_time, j.until_time FROM job_runs j, span
    WHERE j.start_time < $__timeTo() AND j.until_time > span.from_time
), moved AS (
    SELECT c.job_id, sum(c.bytes) AS bytes, count(DISTINCT s.component) AS clients
    FROM (SELECT r.job_id, x.series_id, sum(x.bytes) AS bytes
          FROM runs r JOIN job_series js USING (job_id) JOIN rates x USING (series_id)
          WHERE x.at_time >= r.start_time - x.step AND x.at_time < r.until_time GROUP BY 1, 2) c JOIN series s USING (series_id)
    GROUP BY c.job_id
), whole AS (
    SELECT sum(bytes) AS bytes FROM rates
)
SELECT w.job_id AS job, j.user_name, j.name, w.bytes AS moved_bytes, w.bytes / nullif(whole.bytes, 0) AS share, w.clients,
       j.slowdown_s AS lost_s, j.slowdown_lo_s AS lost_lo_s, j.slowdown_hi_s AS lost_hi_s,
       j.slowdown_percent AS lost_percent, j.completeness
FROM (SELECT * FROM moved ORDER BY bytes DESC LIMIT 50) w JOIN job_slowdown j USING (job_id) CROSS JOIN whole
ORDER BY w.bytes DESC, w.job_id
