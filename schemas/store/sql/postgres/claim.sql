INSERT INTO stage_positions AS p (stage, partition, epoch, owner, topic_id) VALUES ($1, $2, 1, $3, $4)
ON CONFLICT (stage, partition) DO UPDATE SET epoch = p.epoch + 1, owner = excluded.owner,
    topic_id = coalesce(excluded.topic_id, p.topic_id),
    -- The first message of a topic that was created again follows the last one read of its predecessor.
    offset_base = CASE WHEN p.topic_id <> excluded.topic_id THEN coalesce(p.position, p.offset_base)
                       ELSE p.offset_base END
RETURNING epoch, position, commits, (SELECT generation FROM state_generation), offset_base, topic_id
