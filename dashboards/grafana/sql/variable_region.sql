SELECT region_id::text FROM regions WHERE start_time < $__timeTo() AND (open OR end_time > $__timeFrom())
ORDER BY open DESC, links_most DESC, start_time DESC LIMIT 100
