-- Incidents that touch the time from ?1 to ?2, open ones first, then by the lower end of the loss; ?3 is whether they are open.
SELECT i.about, i.incident, i.region_id, i.mount, i.metric, i.name, i.start_time, i.end_time, i.open, i.members, i.kind, i.cause,
       i.who, i.confidence, i.completeness, i.lost_s, i.lost_lo_s, i.lost_hi_s, i.lost_by, count(*) OVER ()
FROM incidents i
WHERE (?1 IS NULL OR i.end_time >= ?1) AND (?2 IS NULL OR i.start_time <= ?2) AND (?3 IS NULL OR i.open = ?3)
ORDER BY i.open DESC, coalesce(i.lost_lo_s, -1) DESC, i.start_time DESC, i.incident LIMIT ?4 OFFSET ?5
