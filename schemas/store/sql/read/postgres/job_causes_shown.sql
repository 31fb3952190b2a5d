SELECT cause, kind, series_or_job, share FROM job_causes_shown WHERE job_id = $1 ORDER BY position
