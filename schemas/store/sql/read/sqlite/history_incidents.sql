-- Contended regions and contention of file systems that reach beyond ?1; an ongoing one has no end.
SELECT r.start_time, CASE WHEN r.open THEN 9e15 ELSE r.end_time END FROM regions r WHERE r.end_time >= ?1 OR r.open
UNION ALL
SELECT a.started_s, coalesce(a.resolved_s, a.valid_until_s) FROM alert_incidents a
WHERE coalesce(a.resolved_s, a.valid_until_s) >= ?1 AND json_extract(a.notice, '$.labels.mount') IS NOT NULL
