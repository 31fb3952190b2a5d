-- What other jobs lost to a job: share times loss and share times both ends, the largest lower end first.
SELECT c.job_id, sum(c.share) * r.slowdown_s, sum(c.share) * r.slowdown_lo_s, sum(c.share) * r.slowdown_hi_s
FROM job_causes_shown c JOIN job_results r USING (job_id)
WHERE c.series_or_job = $1 AND c.job_id <> $1 AND c.cause IN ('other_job', 'io_on_mpi', 'failover_induced')
GROUP BY c.job_id, r.slowdown_s, r.slowdown_lo_s, r.slowdown_hi_s
ORDER BY 3 DESC, 2 DESC, 1
