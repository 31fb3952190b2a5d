-- Clients by the lower end of the seconds lost in the span, in the latest day of longer ones, with the latest job on each.
SELECT s.component AS client, s.part AS mount, e.lost_s, e.lost_lo_s, e.lost_hi_s, e.contended_s, e.episodes, m.title AS metric, e.least_share, e.completeness,
       (SELECT j.job_id FROM job_series js JOIN jobs j USING (job_id)
        WHERE js.series_id = s.series_id AND j.start_time < $__timeTo() AND coalesce(j.end_time, $__timeTo()) > e.from_time
        ORDER BY j.start_time DESC LIMIT 1) AS job,
       s.name AS series
FROM (SELECT x.series_id, sum(x.slowdown_s) AS lost_s, sum(x.slowdown_lo_s) AS lost_lo_s, sum(x.slowdown_hi_s) AS lost_hi_s,
             min(f.from_time) AS from_time, count(*) AS episodes, min(x.peak / nullif(x.baseline, 0)) AS least_share,
             avg(x.completeness) AS completeness,
             sum(extract(epoch FROM least(x.end_time, $__timeTo()) - greatest(x.start_time, f.from_time)))::double precision AS contended_s
      FROM (SELECT greatest($__timeFrom()::timestamptz, $__timeTo()::timestamptz - interval '1 day') AS from_time) f
      JOIN episodes x ON x.start_time < $__timeTo() AND x.end_time > f.from_time
      JOIN series o ON o.series_id = x.series_id
      WHERE o.metric IN (SELECT m.metric FROM metrics m WHERE m.measures = 'progress') AND o.part IN (${mount:sqlstring})
      GROUP BY 1 ORDER BY 3 DESC, 2 DESC LIMIT 50) e
JOIN series s USING (series_id) JOIN metrics m USING (metric) ORDER BY e.lost_lo_s DESC, e.lost_s DESC, s.name
