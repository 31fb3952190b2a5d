-- Who lost how much to whom: the shares that other jobs have in what each job cost. Shares of a loss have the same share of its ends.
-- With the rights of its owner: a user sees the pairs of own jobs.
CREATE VIEW blame WITH (security_barrier = true) AS
SELECT c.job_id AS victim, c.series_or_job AS aggressor, c.cause, c.kind, k.start_time, k.until_time, c.share,
       c.share * k.lost_s AS lost_s, c.share * k.lost_lo_s AS lost_lo_s, c.share * k.lost_hi_s AS lost_hi_s,
       c.share * k.lost_node_hours AS lost_node_hours, c.share * k.lost_lo_node_hours AS lost_lo_node_hours,
       c.share * k.lost_hi_node_hours AS lost_hi_node_hours
FROM job_causes c JOIN job_costs k USING (job_id) JOIN jobs v USING (job_id) JOIN jobs a ON a.job_id = c.series_or_job
WHERE c.cause IN ('other_job', 'io_on_mpi', 'failover_induced') AND c.series_or_job <> c.job_id AND k.lost_hi_s > 0
  AND ((SELECT tailback_sees_all()) OR v.user_name = session_user AND a.user_name = session_user);
