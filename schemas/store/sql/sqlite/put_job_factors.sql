-- A job that was expired meanwhile has no row to hang on; its factors are not written again.
INSERT INTO job_factors (job_id, configuration, self_s, self_lo_s, self_hi_s, other_s, other_lo_s, other_hi_s, placement,
                         placement_lo, placement_hi, beta, beta_lo, beta_hi, beta_version, beta_runs, caveat)
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17
WHERE EXISTS (SELECT 1 FROM jobs WHERE job_id = ?1)
ON CONFLICT (job_id) DO UPDATE SET
    configuration = excluded.configuration, self_s = excluded.self_s, self_lo_s = excluded.self_lo_s,
    self_hi_s = excluded.self_hi_s, other_s = excluded.other_s, other_lo_s = excluded.other_lo_s,
    other_hi_s = excluded.other_hi_s, placement = excluded.placement, placement_lo = excluded.placement_lo,
    placement_hi = excluded.placement_hi, beta = excluded.beta, beta_lo = excluded.beta_lo, beta_hi = excluded.beta_hi,
    beta_version = excluded.beta_version, beta_runs = excluded.beta_runs, caveat = excluded.caveat
