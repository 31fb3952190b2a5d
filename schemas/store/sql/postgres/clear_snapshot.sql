DELETE FROM stage_snapshots WHERE stage = $1 AND partition = $2
