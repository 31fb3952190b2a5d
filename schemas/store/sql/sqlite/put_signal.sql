-- REPLACE costs no second look at the key, and no table refers to this one.
INSERT OR REPLACE INTO signal_rows (bucket, series_id, time, value, mean, baseline, bound, state, slowdown_s, passed_per_s, waited_per_s)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
