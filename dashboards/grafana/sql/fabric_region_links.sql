-- Links of the region over time, and the worst windowed ratio among them.
SELECT at_time AS time, links::double precision AS links, worst
FROM region_history((SELECT region_id FROM regions WHERE region_id::text = ${region:sqlstring})) ORDER BY at_time
