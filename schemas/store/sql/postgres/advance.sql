UPDATE stage_positions p
SET position = m.to_position, commits = p.commits + 1, committed_at = now(),
    -- A node whose clock is ahead does not move the present of others.
    event_time = CASE WHEN greatest(p.event_time, to_timestamp(m.event_s)) > now() THEN now()
                      ELSE greatest(p.event_time, to_timestamp(m.event_s)) END
FROM unnest($2::integer[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::double precision[])
    AS m (partition, epoch, commits, from_position, to_position, event_s)
WHERE p.stage = $1 AND p.partition = m.partition AND p.epoch = m.epoch AND p.commits = m.commits
    AND p.position IS NOT DISTINCT FROM m.from_position
RETURNING p.partition
