-- The ten series with the largest loss of the job, by lower end: windowed mean over baseline. Queried one by one: the columnstore skips
-- batches of other series for one series, but not for a list.
WITH worst AS (
    SELECT e.series_id FROM job_episodes e WHERE e.job_id = job_named(${job:sqlstring})
    GROUP BY 1 ORDER BY sum(e.lost_lo_s) DESC, sum(e.lost_s) DESC, 1 LIMIT 10
)
SELECT t.time, s.name AS metric, t.value
FROM worst w JOIN series s USING (series_id) CROSS JOIN LATERAL (
    SELECT date_bin(make_interval(secs => greatest(1, $__interval_ms / 1000.0)), o.at_time, 'epoch') AS time,
           avg(o.mean / nullif(o.baseline, 0)) AS value
    FROM signals_over($__timeFrom(), $__timeTo(), $__interval_ms / 1000.0) o WHERE o.series_id = w.series_id GROUP BY 1
) t ORDER BY 1, 2
