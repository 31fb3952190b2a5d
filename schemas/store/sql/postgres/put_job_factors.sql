INSERT INTO job_factors (job_id, configuration, self_s, self_lo_s, self_hi_s, other_s, other_lo_s, other_hi_s, placement,
                         placement_lo, placement_hi, beta, beta_lo, beta_hi, beta_version, beta_runs, caveat)
SELECT DISTINCT ON (f.job_id) f.job_id, f.configuration, f.self_s, f.self_lo_s, f.self_hi_s, f.other_s, f.other_lo_s,
       f.other_hi_s, f.placement, f.placement_lo, f.placement_hi, f.beta, f.beta_lo, f.beta_hi, f.beta_version, f.beta_runs,
       f.caveat
FROM unnest($1::text[], $2::text[], $3::double precision[], $4::double precision[], $5::double precision[],
            $6::double precision[], $7::double precision[], $8::double precision[], $9::double precision[],
            $10::double precision[], $11::double precision[], $12::double precision[], $13::double precision[],
            $14::double precision[], $15::integer[], $16::integer[], $17::text[])
    WITH ORDINALITY AS f (job_id, configuration, self_s, self_lo_s, self_hi_s, other_s, other_lo_s, other_hi_s, placement,
                          placement_lo, placement_hi, beta, beta_lo, beta_hi, beta_version, beta_runs, caveat, place)
ORDER BY f.job_id, f.place DESC
ON CONFLICT (job_id) DO UPDATE SET
    configuration = excluded.configuration, self_s = excluded.self_s, self_lo_s = excluded.self_lo_s,
    self_hi_s = excluded.self_hi_s, other_s = excluded.other_s, other_lo_s = excluded.other_lo_s,
    other_hi_s = excluded.other_hi_s, placement = excluded.placement, placement_lo = excluded.placement_lo,
    placement_hi = excluded.placement_hi, beta = excluded.beta, beta_lo = excluded.beta_lo, beta_hi = excluded.beta_hi,
    beta_version = excluded.beta_version, beta_runs = excluded.beta_runs, caveat = excluded.caveat
