-- Seconds from a sample to the commit, of the slowest stage; 0 within its limit, which `monitor_health` has from [health].
SELECT coalesce(max(value) FILTER (WHERE state = 'exceeded'), 0) AS value FROM monitor_health WHERE name = 'lag_s'
