-- A database that was read further has the results up to there: they are not written twice.
INSERT INTO stage_positions AS p (stage, partition, epoch, position, topic_id, offset_base) VALUES ($1, $2, 0, $3, $4, $5)
ON CONFLICT (stage, partition) DO UPDATE SET epoch = p.epoch + 1, owner = NULL,
    position = greatest(p.position, excluded.position), topic_id = coalesce(excluded.topic_id, p.topic_id),
    offset_base = excluded.offset_base
RETURNING position
