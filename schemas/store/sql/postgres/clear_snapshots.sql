DELETE FROM stage_snapshots
