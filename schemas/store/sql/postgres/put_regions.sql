INSERT INTO regions (region_id, metric, name, start_time, end_time, open, links, links_most, peak, kind, kind_confidence,
                     relief, cause, confidence, completeness)
SELECT r.region_id, r.metric, r.name, to_timestamp(r.start_s), to_timestamp(r.end_s), r.open, r.links, r.links_most,
       nullif(r.peak, 'NaN'), r.kind, r.kind_confidence, r.relief, r.cause, r.confidence, r.completeness
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::double precision[], $5::double precision[], $6::boolean[],
            $7::integer[], $8::integer[], $9::double precision[], $10::text[], $11::double precision[],
            $12::double precision[], $13::text[], $14::double precision[], $15::double precision[])
    AS r (region_id, metric, name, start_s, end_s, open, links, links_most, peak, kind, kind_confidence, relief, cause,
          confidence, completeness)
ORDER BY r.region_id
ON CONFLICT (region_id) DO UPDATE SET
    metric = excluded.metric, name = excluded.name, start_time = excluded.start_time, end_time = excluded.end_time,
    open = excluded.open, links = excluded.links, links_most = excluded.links_most, peak = excluded.peak,
    kind = excluded.kind, kind_confidence = excluded.kind_confidence, relief = excluded.relief, cause = excluded.cause,
    confidence = excluded.confidence, completeness = excluded.completeness
