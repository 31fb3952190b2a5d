INSERT INTO job_results (job_id, contended_s, slowdown_s, slowdown_lo_s, slowdown_hi_s, completeness, judged)
SELECT DISTINCT ON (r.job_id) r.job_id, r.contended_s, r.slowdown_s, r.slowdown_lo_s, r.slowdown_hi_s, r.completeness,
       r.judged
FROM unnest($1::text[], $2::double precision[], $3::double precision[], $4::double precision[],
            $5::double precision[], $6::double precision[], $7::double precision[])
    WITH ORDINALITY AS r (job_id, contended_s, slowdown_s, slowdown_lo_s, slowdown_hi_s, completeness, judged, place)
ORDER BY r.job_id, r.place DESC
ON CONFLICT (job_id) DO UPDATE SET
    contended_s = excluded.contended_s, slowdown_s = excluded.slowdown_s,
    slowdown_lo_s = excluded.slowdown_lo_s, slowdown_hi_s = excluded.slowdown_hi_s,
    completeness = excluded.completeness, judged = excluded.judged
