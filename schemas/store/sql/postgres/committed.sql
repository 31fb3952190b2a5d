SELECT count(*)
FROM stage_positions p JOIN unnest($2::integer[], $3::bigint[], $4::bigint[], $5::bigint[])
    AS m (partition, epoch, commits, to_position)
    ON p.stage = $1 AND p.partition = m.partition AND p.epoch = m.epoch AND p.commits = m.commits + 1
    AND p.position = m.to_position
