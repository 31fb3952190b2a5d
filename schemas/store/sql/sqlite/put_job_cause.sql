-- A job that was expired meanwhile has no row to hang on; its result is not written again.
INSERT INTO job_causes (job_id, position, cause, kind, series_or_job, share)
SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE EXISTS (SELECT 1 FROM jobs WHERE job_id = ?1)
