SELECT reason, count FROM dropped_rows WHERE count > 0 ORDER BY count DESC, reason
