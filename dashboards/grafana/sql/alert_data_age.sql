-- Age of the newest signal in seconds; 0 within its limit, which `monitor_health` has from [health].
SELECT coalesce((SELECT CASE state WHEN 'exceeded' THEN value ELSE 0 END FROM monitor_health WHERE name = 'data_age_s'), 1e9) AS value
