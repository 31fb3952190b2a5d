DELETE FROM stage_positions
