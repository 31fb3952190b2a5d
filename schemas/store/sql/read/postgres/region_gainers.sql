-- Sources of the region's load.
SELECT cause, series_or_job, share, confidence, evidence::text FROM region_causes WHERE region_id = $1
ORDER BY position LIMIT 10
