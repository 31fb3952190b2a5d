SELECT cause, series_or_job, share, confidence, evidence::text FROM region_causes WHERE region_id = $1::bigint ORDER BY position
