-- Seconds since the last commit of a partition that has an owner; 0 within its limit, which `monitor_health` has from [health].
SELECT coalesce(max(value) FILTER (WHERE state = 'exceeded'), 0) AS value FROM monitor_health WHERE name = 'stalled_s'
