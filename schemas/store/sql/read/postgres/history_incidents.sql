-- Contended regions and contention of file systems that reach beyond $1; an ongoing one has no end.
SELECT extract(epoch FROM r.start_time)::double precision,
       CASE WHEN r.open THEN 9e15::double precision ELSE extract(epoch FROM r.end_time)::double precision END
FROM regions r WHERE r.end_time >= to_timestamp($1::double precision) OR r.open
UNION ALL
SELECT a.started_s, coalesce(a.resolved_s, a.valid_until_s) FROM alert_incidents a
WHERE coalesce(a.resolved_s, a.valid_until_s) >= $1::double precision AND a.notice::jsonb #>> '{labels,mount}' IS NOT NULL
