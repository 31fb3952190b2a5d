-- A job that was expired meanwhile has no row to hang on; its result is not written again.
INSERT INTO job_series (job_id, series_id) SELECT ?1, ?2 WHERE EXISTS (SELECT 1 FROM jobs WHERE job_id = ?1)
ON CONFLICT DO NOTHING
