DELETE FROM signal_rows WHERE (bucket, series_id) < (?1, ?2)
