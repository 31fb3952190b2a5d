SELECT coalesce(max(extract(epoch FROM now() - committed_at)), 0)::double precision AS value
FROM stage_positions WHERE owner IS NOT NULL
