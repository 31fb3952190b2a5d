INSERT INTO series_latest (series_id, time, value, mean, baseline, bound, state, slowdown_s)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT (series_id) DO UPDATE SET
    time = excluded.time, value = excluded.value, mean = excluded.mean, baseline = excluded.baseline,
    bound = excluded.bound, state = excluded.state, slowdown_s = excluded.slowdown_s
WHERE excluded.time >= series_latest.time
