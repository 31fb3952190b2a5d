-- What other jobs lost to job $1, all causes together, the largest lower end first.
SELECT b.victim, sum(b.lost_s), sum(b.lost_lo_s), sum(b.lost_hi_s)
FROM blame b WHERE b.aggressor = $1::text GROUP BY b.victim ORDER BY 3 DESC, 2 DESC, b.victim COLLATE "C"
