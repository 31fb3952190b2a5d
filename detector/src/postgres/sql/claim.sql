INSERT INTO stage_positions AS p (stage, partition, epoch, owner) VALUES ($1, $2, 1, $3)
ON CONFLICT (stage, partition) DO UPDATE SET epoch = p.epoch + 1, owner = excluded.owner
RETURNING epoch, position, commits, (SELECT generation FROM state_generation)
