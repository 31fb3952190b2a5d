INSERT INTO stage_snapshots (stage, partition, position, version, chunk, content) VALUES ($1, $2, $3, $4, $5, $6)
