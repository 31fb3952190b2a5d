SELECT coalesce(max(extract(epoch FROM committed_at - event_time)), 0)::double precision AS value FROM stage_positions
