-- Rows dropped in ten minutes, without copies; 0 within its limit, which `monitor_health` has from [health].
SELECT coalesce(max(value) FILTER (WHERE state = 'exceeded'), 0) AS value FROM monitor_health WHERE name = 'dropped_rows'
