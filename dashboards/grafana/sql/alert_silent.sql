SELECT coalesce(count(*) FILTER (WHERE state IN ('silent', 'never seen'))::double precision / nullif(count(*), 0), 0) AS value
FROM sources WHERE state <> 'gone' AND NOT event_driven
