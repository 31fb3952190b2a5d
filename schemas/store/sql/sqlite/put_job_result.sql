-- A job that was expired meanwhile has no row to hang on; its result is not written again.
INSERT INTO job_results (job_id, contended_s, slowdown_s, slowdown_lo_s, slowdown_hi_s, completeness, judged)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE EXISTS (SELECT 1 FROM jobs WHERE job_id = ?1)
ON CONFLICT (job_id) DO UPDATE SET
    contended_s = excluded.contended_s, slowdown_s = excluded.slowdown_s,
    slowdown_lo_s = excluded.slowdown_lo_s, slowdown_hi_s = excluded.slowdown_hi_s,
    completeness = excluded.completeness, judged = excluded.judged
