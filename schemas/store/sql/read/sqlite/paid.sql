-- Node-hours lost in each hour from ?1 to ?2, by cause. The loss of a job is spread evenly over its run; loss without a known
-- cause is `unknown`.
WITH RECURSIVE hours (time) AS (
    SELECT ?1 UNION ALL SELECT time + 3600.0 FROM hours WHERE time + 3600.0 < ?2
), runs AS (
    SELECT job_id, start_time, start_time + run_s AS until_time, slowdown_s * nodes / 3600.0 / run_s AS node_hours_per_s
    FROM job_slowdown WHERE slowdown_s > 0 AND run_s > 0 AND start_time < ?2 AND start_time + run_s > ?1
), shares AS (
    SELECT c.job_id, c.cause, sum(c.share) AS share FROM job_causes c JOIN runs USING (job_id) WHERE c.cause <> 'unknown' GROUP BY 1, 2
), all_shares AS (
    SELECT job_id, cause, share FROM shares
    UNION ALL
    SELECT r.job_id, 'unknown', max(0.0, 1.0 - coalesce((SELECT sum(s.share) FROM shares s WHERE s.job_id = r.job_id), 0.0)) FROM runs r
)
SELECT h.time, a.cause,
       sum(a.share * r.node_hours_per_s * (min(h.time + 3600.0, r.until_time) - max(h.time, r.start_time))) AS node_hours
FROM hours h JOIN runs r ON r.start_time < h.time + 3600.0 AND r.until_time > h.time JOIN all_shares a USING (job_id)
GROUP BY 1, 2 HAVING node_hours > 0 ORDER BY 1, 2
