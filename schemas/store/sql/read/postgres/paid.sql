-- Node-hours lost in each hour from $1 to $2, by cause. The loss of a job is spread evenly over its run; loss without a known
-- cause is `unknown`. Each run makes its own hours.
WITH runs AS MATERIALIZED (
    SELECT job_id, extract(epoch FROM start_time)::double precision AS start_s,
           extract(epoch FROM start_time)::double precision + run_s AS until_s,
           slowdown_s * nodes / 3600 / run_s AS node_hours_per_s
    FROM job_slowdown
    WHERE start_time < to_timestamp($2::double precision) AND coalesce(end_time, 'infinity') > to_timestamp($1::double precision)
      AND slowdown_s > 0 AND run_s > 0
), shares AS MATERIALIZED (
    SELECT c.job_id, c.cause, sum(c.share) AS share FROM job_causes c JOIN runs USING (job_id) WHERE c.cause <> 'unknown' GROUP BY 1, 2
), all_shares AS (
    SELECT job_id, cause, share FROM shares
    UNION ALL
    SELECT r.job_id, 'unknown', greatest(0, 1 - coalesce(sum(s.share), 0)) FROM runs r LEFT JOIN shares s USING (job_id) GROUP BY 1
), paid AS (
    SELECT r.job_id, h.time, r.node_hours_per_s * (least(h.time + 3600, r.until_s) - greatest(h.time, r.start_s)) AS node_hours
    FROM runs r CROSS JOIN LATERAL (
        SELECT $1 + 3600.0::double precision * n AS time
        FROM generate_series(greatest(0, floor((r.start_s - $1) / 3600))::integer,
                             ceil((least(r.until_s, $2) - $1) / 3600)::integer - 1) AS n
    ) h
)
SELECT p.time, a.cause, sum(a.share * p.node_hours) AS node_hours
FROM paid p JOIN all_shares a USING (job_id) GROUP BY 1, 2 HAVING sum(a.share * p.node_hours) > 0 ORDER BY 1, a.cause COLLATE "C"
