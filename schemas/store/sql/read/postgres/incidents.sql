-- Incidents that touch the time from $1 to $2, open ones first, then by the lower end of the loss; $3 is whether they are open.
SELECT i.about, i.incident, i.region_id, i.mount, i.metric, i.name, extract(epoch FROM i.start_time)::double precision,
       extract(epoch FROM i.end_time)::double precision, i.open, i.members, i.kind, i.cause, i.who, i.confidence, i.completeness,
       i.lost_s, i.lost_lo_s, i.lost_hi_s, i.lost_by, count(*) OVER ()
FROM incidents i
WHERE ($1::double precision IS NULL OR i.end_time >= to_timestamp($1::double precision))
  AND ($2::double precision IS NULL OR i.start_time <= to_timestamp($2::double precision))
  AND ($3::boolean IS NULL OR i.open = $3::boolean)
ORDER BY i.open DESC, coalesce(i.lost_lo_s, -1) DESC, i.start_time DESC, i.incident COLLATE "C" LIMIT $4::bigint OFFSET $5::bigint
