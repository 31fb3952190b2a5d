-- Timeline of a region, latest steps first.
SELECT at_time, change, other, other_name, links, worst_series, worst FROM region_history
WHERE region_id = ?1 ORDER BY at_time DESC, change DESC, other DESC LIMIT ?2
