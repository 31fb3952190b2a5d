-- Node-hours lost in each hour from ?1 to ?2, by cause, with the ends of their intervals. The loss of a job is spread evenly
-- over its run; loss without a known cause is `unknown`.
WITH RECURSIVE hours (time) AS (
    SELECT ?1 UNION ALL SELECT time + 3600.0 FROM hours WHERE time + 3600.0 < ?2
), runs AS MATERIALIZED (
    SELECT * FROM job_costs WHERE lost_hi_s > 0 AND run_s > 0 AND start_time < ?2 AND until_time > ?1
), parts AS (
    SELECT r.*, h.time, (min(h.time + 3600.0, r.until_time) - max(h.time, r.start_time)) / r.run_s AS part
    FROM hours h JOIN runs r ON r.start_time < h.time + 3600.0 AND r.until_time > h.time
)
SELECT p.time, s.cause, sum(s.share * p.part * p.lost_node_hours), sum(s.share * p.part * p.lost_lo_node_hours),
       sum(s.share * p.part * p.lost_hi_node_hours) AS most
FROM parts p JOIN job_cost_shares s USING (job_id) GROUP BY 1, 2 HAVING most > 0 ORDER BY 1, 2
