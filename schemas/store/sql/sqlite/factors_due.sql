-- Jobs that run, or ended within the last hour of event time, or without factors; those of other jobs stay as they are.
SELECT j.job_id, c.configuration, c.groups, j.end_presumed,
       coalesce(j.end_time, max(coalesce((SELECT now FROM clock), 0), j.start_time)) - j.start_time AS run_s,
       r.slowdown_s, r.slowdown_lo_s, r.slowdown_hi_s, r.contended_s, r.completeness,
       coalesce((SELECT sum(share) FROM job_causes k WHERE k.job_id = j.job_id AND k.cause = 'self'), 0.0) AS own,
       coalesce((SELECT sum(share) FROM job_causes k
                 WHERE k.job_id = j.job_id AND k.cause IN ('other_job', 'io_on_mpi')), 0.0) AS others,
       m.lost_s, m.lost_lo_s, m.lost_hi_s, m.cost, m.cost_lo, m.cost_hi
FROM jobs j JOIN job_results r USING (job_id) JOIN job_configurations c USING (job_id) LEFT JOIN job_measured m USING (job_id)
WHERE j.end_time IS NULL OR j.end_time > (SELECT now FROM clock) - 3600
   OR NOT EXISTS (SELECT 1 FROM job_factors f WHERE f.job_id = j.job_id)
