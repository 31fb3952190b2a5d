-- Every partition of every stage: its owner and position.
SELECT stage, partition, owner, position AS next_offset, event_time AS heard_time, committed_at AS commit_time,
       extract(epoch FROM committed_at - event_time)::double precision AS latency_s,
       extract(epoch FROM now() - committed_at)::double precision AS quiet_s, commits
FROM stage_positions ORDER BY stage, partition
