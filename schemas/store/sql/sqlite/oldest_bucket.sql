SELECT min(bucket) FROM signal_rows
