SELECT topic, name, figure, CASE WHEN figure IS NOT NULL THEN unit END, detail FROM placement_advice($1)
