-- Jobs by what they wrote in the span, in the latest day of longer ones, from the mean rates of their clients while they ran.
WITH span AS (
    SELECT f AS from_time, CASE WHEN extract(epoch FROM $__timeTo()::timestamptz - f) / 24 >= 900 THEN 3600 ELSE 60 END AS step_s
    FROM (SELECT greatest($__timeFrom()::timestamptz, $__timeTo()::timestamptz - interval '1 day') AS f) x
), rates AS (
    SELECT t.series_id, t.at_time, t.value
    FROM signals_over(greatest($__timeFrom()::timestamptz, $__timeTo()::timestamptz - interval '1 day'), $__timeTo(),
                      greatest(60, extract(epoch FROM least($__timeTo()::timestamptz - $__timeFrom()::timestamptz, interval '1 day'))
                                   ::double precision / 24)) t
    WHERE t.series_id = ANY (ARRAY(SELECT series_id FROM series WHERE metric = 'lustre_write_rate' AND part IN (${mount:sqlstring})))
      AND t.value > 0
), runs AS (
    SELECT j.job_id, j.start_time, j.until_time FROM job_runs j, span
    WHERE j.start_time < $__timeTo() AND j.until_time > span.from_time
), written AS (
    SELECT r.job_id, sum(x.value * span.step_s) AS bytes, count(DISTINCT x.series_id) AS clients
    FROM runs r JOIN job_series js USING (job_id) JOIN rates x USING (series_id) CROSS JOIN span
    WHERE x.at_time >= r.start_time - make_interval(secs => span.step_s) AND x.at_time < r.until_time
    GROUP BY r.job_id
), whole AS (
    SELECT sum(x.value * span.step_s) AS bytes FROM rates x CROSS JOIN span
)
SELECT w.job_id AS job, j.user_name, j.name, w.bytes AS written_bytes, w.bytes / nullif(whole.bytes, 0) AS share, w.clients,
       j.slowdown_s AS lost_s, j.slowdown_percent AS lost_percent, j.completeness
FROM (SELECT * FROM written ORDER BY bytes DESC LIMIT 50) w JOIN job_slowdown j USING (job_id) CROSS JOIN whole
ORDER BY w.bytes DESC, w.job_id
