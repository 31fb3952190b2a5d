-- Node-hours lost in each hour from $1 to $2, by cause, with the ends of their intervals. The loss of a job is spread evenly
-- over its run; loss without a known cause is `unknown`. Each run makes its own hours.
WITH runs AS MATERIALIZED (
    SELECT job_id, extract(epoch FROM start_time)::double precision AS start_s,
           extract(epoch FROM start_time)::double precision + run_s AS until_s, run_s,
           lost_node_hours, lost_lo_node_hours, lost_hi_node_hours
    FROM job_costs
    WHERE start_time < to_timestamp($2::double precision) AND until_time > to_timestamp($1::double precision)
      AND lost_hi_s > 0 AND run_s > 0
), shares AS MATERIALIZED (
    SELECT s.* FROM job_cost_shares s WHERE s.job_id = ANY (ARRAY(SELECT job_id FROM runs))
), parts AS (
    SELECT r.job_id, h.time, (least(h.time + 3600, r.until_s) - greatest(h.time, r.start_s)) / r.run_s AS part,
           r.lost_node_hours, r.lost_lo_node_hours, r.lost_hi_node_hours
    FROM runs r CROSS JOIN LATERAL (
        SELECT $1 + 3600.0::double precision * n AS time
        FROM generate_series(greatest(0, floor((r.start_s - $1) / 3600))::integer,
                             ceil((least(r.until_s, $2) - $1) / 3600)::integer - 1) AS n
    ) h
)
SELECT p.time, s.cause, sum(s.share * p.part * p.lost_node_hours) AS node_hours,
       sum(s.share * p.part * p.lost_lo_node_hours), sum(s.share * p.part * p.lost_hi_node_hours)
FROM parts p JOIN shares s USING (job_id) GROUP BY 1, 2 HAVING sum(s.share * p.part * p.lost_hi_node_hours) > 0
ORDER BY 1, s.cause COLLATE "C"
