SELECT cause, kind, series_or_job, share FROM job_causes WHERE job_id = $1::text ORDER BY position
