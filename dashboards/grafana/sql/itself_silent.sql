-- Expected sources that do not report, longest silent first.
SELECT producer, schema, component, nullif(part, '') AS part, state, last_time AS heard_time,
       extract(epoch FROM (SELECT now FROM clock) - coalesce(silent_since, last_time))::double precision AS silent_s
FROM sources WHERE state IN ('silent', 'never seen', 'absent') ORDER BY last_time NULLS FIRST, producer, component LIMIT 500
