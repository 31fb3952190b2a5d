DELETE FROM alert_marks WHERE receiver = $1 AND target = $2 AND name = $3
