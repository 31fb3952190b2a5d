-- A job that was expired meanwhile has no row to hang on; its result is not written again.
INSERT INTO job_progress (job_id, name, covered_s, contended_s, per_s, counters_s, state, lost_s, lost_lo_s, lost_hi_s, cost, cost_lo, cost_hi)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13 WHERE EXISTS (SELECT 1 FROM jobs WHERE job_id = ?1)
