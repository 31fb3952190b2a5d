-- The ten series that cost it most: windowed mean over baseline.
WITH worst AS (
    SELECT e.series_id FROM job_episodes e WHERE e.job_id = job_named(${job:sqlstring})
    GROUP BY 1 ORDER BY sum(e.lost_s) DESC, 1 LIMIT 10
)
SELECT date_bin(make_interval(secs => greatest(1, $__interval_ms / 1000.0)), t.at_time, 'epoch') AS time, s.name AS metric,
       avg(t.mean / nullif(t.baseline, 0)) AS value
FROM signals_over($__timeFrom(), $__timeTo(), $__interval_ms / 1000.0) t JOIN series s USING (series_id)
WHERE t.series_id = ANY (ARRAY(SELECT series_id FROM worst)) GROUP BY 1, 2 ORDER BY 1, 2
