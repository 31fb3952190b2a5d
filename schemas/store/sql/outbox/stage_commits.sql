-- Of a server alone: the embedded store has no stages. Ages by the server's clock.
SELECT stage, partition::bigint, extract(epoch FROM clock_timestamp() - committed_at)::double precision FROM stage_positions
