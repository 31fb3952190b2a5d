INSERT INTO episodes (source_partition, id, series_id, start_time, end_time, open, peak, baseline,
                      slowdown_s, slowdown_lo_s, slowdown_hi_s, completeness, profile, causes)
SELECT DISTINCT ON (e.id) $1, e.id, e.series_id, to_timestamp(e.start_s), to_timestamp(e.end_s), e.open,
       nullif(e.peak, 'NaN'), nullif(e.baseline, 'NaN'), e.slowdown_s, e.slowdown_lo_s, e.slowdown_hi_s,
       e.completeness, e.profile::jsonb, e.causes::jsonb
FROM unnest($2::bigint[], $3::integer[], $4::double precision[], $5::double precision[], $6::boolean[],
            $7::double precision[], $8::double precision[], $9::double precision[], $10::double precision[],
            $11::double precision[], $12::double precision[], $13::text[], $14::text[])
    WITH ORDINALITY AS e (id, series_id, start_s, end_s, open, peak, baseline, slowdown_s, slowdown_lo_s,
                          slowdown_hi_s, completeness, profile, causes, place)
ORDER BY e.id, e.place DESC
ON CONFLICT (source_partition, id) DO UPDATE SET
    series_id = excluded.series_id, start_time = excluded.start_time, end_time = excluded.end_time,
    open = excluded.open, peak = excluded.peak, baseline = excluded.baseline,
    slowdown_s = excluded.slowdown_s, slowdown_lo_s = excluded.slowdown_lo_s,
    slowdown_hi_s = excluded.slowdown_hi_s, completeness = excluded.completeness,
    profile = excluded.profile, causes = excluded.causes
