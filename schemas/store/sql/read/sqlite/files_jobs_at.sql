-- Jobs that ran at the time ?4, by the rate of their clients of a mount at that time.
WITH clients AS (
    SELECT s.series_id,
           coalesce((SELECT max(r.time) FROM signal_rows r WHERE r.bucket = CAST(?4 / 10.0 AS INTEGER) AND r.series_id = s.series_id
                       AND r.time > ?4 - 5.0 AND r.time <= ?4),
                    (SELECT max(r.time) FROM signal_rows r WHERE r.bucket = CAST(?4 / 10.0 AS INTEGER) - 1
                       AND r.series_id = s.series_id AND r.time > ?4 - 5.0 AND r.time <= ?4)) AS time
    FROM series s WHERE s.metric = ?3 AND coalesce(s.part, '') = ?1
)
SELECT j.job_id, j.user_name, j.name, count(*), count(*) FILTER (WHERE n.state = 'contended'),
       sum(n.value) FILTER (WHERE n.state <> 'unknown'), r.slowdown_s, r.slowdown_lo_s, r.slowdown_hi_s,
       r.completeness, r.judged
FROM jobs j JOIN job_series js USING (job_id) JOIN clients c USING (series_id)
LEFT JOIN signal_rows n ON n.bucket = CAST(c.time / 10.0 AS INTEGER) AND n.series_id = c.series_id AND n.time = c.time
LEFT JOIN job_results r USING (job_id)
WHERE j.start_time <= ?4 AND coalesce(j.end_time, 9e18) >= ?4
GROUP BY j.job_id ORDER BY 6 DESC, 1 LIMIT ?2
