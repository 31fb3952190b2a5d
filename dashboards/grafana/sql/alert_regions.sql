SELECT coalesce(count(*), 0)::double precision AS value FROM regions
WHERE open AND kind = 'avoidable' AND start_time < (SELECT now FROM clock) - interval '10 minutes'
