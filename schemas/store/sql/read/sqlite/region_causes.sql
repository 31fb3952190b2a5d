SELECT cause, series_or_job, share, confidence, evidence FROM region_causes WHERE region_id = ?1 ORDER BY position
