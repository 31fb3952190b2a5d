-- Jobs by bytes read and written in the span, of the sums that `roll_up` keeps: of minutes for the latest six hours, of hours before. Of those
-- at the ends of the span the share counts that lies in it.
WITH kept AS (
    SELECT b.job_id, sum(b.bytes / b.seconds * date_part('epoch', least(b.time + make_interval(secs => b.seconds), $__timeTo())
                                                                  - greatest(b.time, $__timeFrom()))) AS bytes
    FROM file_system_bytes b
    WHERE b.mount IN (${mount:sqlstring}) AND b.time > $__timeFrom()::timestamptz - interval '1 hour' AND b.time < $__timeTo()
      AND b.time + make_interval(secs => b.seconds) > $__timeFrom()
    GROUP BY 1
), moved AS MATERIALIZED (
    SELECT k.job_id, k.bytes FROM kept k WHERE k.job_id <> '' ORDER BY 2 DESC, 1 LIMIT 50
)
SELECT w.job_id AS job, j.user_name, j.name, w.bytes AS moved_bytes,
       w.bytes / nullif((SELECT k.bytes FROM kept k WHERE k.job_id = ''), 0) AS share, n.nodes,
       j.slowdown_s AS lost_s, j.slowdown_lo_s AS lost_lo_s, j.slowdown_hi_s AS lost_hi_s,
       j.slowdown_percent AS lost_percent, j.completeness
FROM moved w JOIN job_slowdown j USING (job_id) LEFT JOIN job_sizes n USING (job_id)
ORDER BY w.bytes DESC, w.job_id
