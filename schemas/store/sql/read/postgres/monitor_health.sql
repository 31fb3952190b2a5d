-- Tailback's own condition: each value beside its limit, those above it first.
SELECT name, label, value, above, state = 'exceeded', meaning FROM monitor_health
ORDER BY state <> 'exceeded', name COLLATE "C", label COLLATE "C"
