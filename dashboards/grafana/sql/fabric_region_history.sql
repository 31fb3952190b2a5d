-- Timeline of the region.
SELECT at_time, change, other_name, links, worst_series, worst
FROM region_history((SELECT region_id FROM regions WHERE region_id::text = ${region:sqlstring})) ORDER BY at_time
