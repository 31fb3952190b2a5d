INSERT INTO job_progress (job_id, name, covered_s, contended_s, per_s, counters_s, state, lost_s, lost_lo_s, lost_hi_s, cost, cost_lo, cost_hi)
SELECT p.job_id, p.name, p.covered_s, p.contended_s, p.per_s, p.counters_s, p.state, p.lost_s, p.lost_lo_s, p.lost_hi_s, p.cost, p.cost_lo, p.cost_hi
FROM unnest($1::text[], $2::text[], $3::double precision[], $4::double precision[], $5::double precision[], $6::double precision[],
            $7::text[], $8::double precision[], $9::double precision[], $10::double precision[], $11::double precision[],
            $12::double precision[], $13::double precision[])
    AS p (job_id, name, covered_s, contended_s, per_s, counters_s, state, lost_s, lost_lo_s, lost_hi_s, cost, cost_lo, cost_hi)
ON CONFLICT (job_id, name) DO UPDATE SET
    covered_s = excluded.covered_s, contended_s = excluded.contended_s, per_s = excluded.per_s, counters_s = excluded.counters_s, state = excluded.state,
    lost_s = excluded.lost_s, lost_lo_s = excluded.lost_lo_s, lost_hi_s = excluded.lost_hi_s,
    cost = excluded.cost, cost_lo = excluded.cost_lo, cost_hi = excluded.cost_hi
