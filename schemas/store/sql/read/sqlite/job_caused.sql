-- What job ?1 cost others: victims with its share of their loss, largest lower end first.
SELECT b.victim, j.user_name, j.name, b.cause, b.kind, b.share, b.lost_s, b.lost_lo_s, b.lost_hi_s,
       b.lost_node_hours, b.lost_lo_node_hours, b.lost_hi_node_hours
FROM blame b JOIN jobs j ON j.job_id = b.victim WHERE b.aggressor = ?1
ORDER BY b.lost_lo_s DESC, b.lost_s DESC, b.victim, b.cause, b.kind LIMIT ?2
