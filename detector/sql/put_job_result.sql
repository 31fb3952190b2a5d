INSERT INTO job_results (job_id, contended_s, slowdown_s, slowdown_lo_s, slowdown_hi_s, completeness)
VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (job_id) DO UPDATE SET
    contended_s = excluded.contended_s, slowdown_s = excluded.slowdown_s,
    slowdown_lo_s = excluded.slowdown_lo_s, slowdown_hi_s = excluded.slowdown_hi_s,
    completeness = excluded.completeness
