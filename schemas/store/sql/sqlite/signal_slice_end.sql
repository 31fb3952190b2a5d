-- The row after a slice of ?2 rows from the front, if the slice does not already end before bucket ?1.
SELECT bucket, series_id FROM signal_rows WHERE bucket < ?1
ORDER BY bucket, series_id, time LIMIT 1 OFFSET ?2
