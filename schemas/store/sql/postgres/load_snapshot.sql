SELECT position, version, content FROM stage_snapshots WHERE stage = $1 AND partition = $2 ORDER BY chunk
