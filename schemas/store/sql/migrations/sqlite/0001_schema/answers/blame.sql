-- Who lost how much to whom: the shares that other jobs have in what each job cost. Shares of a loss have the same share of its ends.
CREATE VIEW blame AS
SELECT c.job_id AS victim, c.series_or_job AS aggressor, c.cause, c.kind, k.start_time, k.until_time, c.share,
       c.share * k.lost_s AS lost_s, c.share * k.lost_lo_s AS lost_lo_s, c.share * k.lost_hi_s AS lost_hi_s,
       c.share * k.lost_node_hours AS lost_node_hours, c.share * k.lost_lo_node_hours AS lost_lo_node_hours,
       c.share * k.lost_hi_node_hours AS lost_hi_node_hours
FROM job_causes c JOIN job_costs k USING (job_id)
WHERE c.cause IN ('other_job', 'io_on_mpi', 'failover_induced') AND c.series_or_job <> c.job_id AND k.lost_hi_s > 0
  AND EXISTS (SELECT 1 FROM jobs a WHERE a.job_id = c.series_or_job);
