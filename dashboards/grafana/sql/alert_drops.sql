SELECT coalesce(sum(greatest(0, d.newest - d.oldest)), 0)::double precision AS value
FROM (SELECT label, max(value) AS newest, min(value) AS oldest FROM health_minutes
      WHERE figure = 'dropped_rows' AND label NOT IN ('duplicate', 'standby') AND time > (SELECT now FROM clock) - interval '10 minutes'
      GROUP BY 1) d
