-- Episodes of the job's series that overlap its run.
SELECT s.name, s.metric, e.id, e.series_id, e.start_time, e.end_time, e.open, e.peak, e.baseline,
       e.slowdown_s, e.slowdown_lo_s, e.slowdown_hi_s, e.completeness, e.profile, e.causes
FROM job_runs r JOIN job_series js USING (job_id)
JOIN episodes e ON e.series_id = js.series_id
JOIN series s ON s.series_id = js.series_id
WHERE r.job_id = ?1 AND e.start_time < r.until_time AND e.end_time > r.start_time
ORDER BY e.start_time, s.name
