UPDATE stage_positions SET owner = NULL WHERE stage = $1 AND partition = $2 AND epoch = $3
