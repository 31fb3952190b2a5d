-- Not REPLACE: that would delete the row first, and with it the region's history.
INSERT INTO regions (region_id, metric, name, start_time, end_time, open, links, links_most, peak, kind, kind_confidence,
                     relief, cause, confidence, completeness)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
ON CONFLICT (region_id) DO UPDATE SET
    metric = excluded.metric, name = excluded.name, start_time = excluded.start_time, end_time = excluded.end_time,
    open = excluded.open, links = excluded.links, links_most = excluded.links_most, peak = excluded.peak,
    kind = excluded.kind, kind_confidence = excluded.kind_confidence, relief = excluded.relief, cause = excluded.cause,
    confidence = excluded.confidence, completeness = excluded.completeness
