-- Tailback's own condition: each value beside its limit, those above it first.
SELECT name, label, value, above, state, meaning FROM monitor_health ORDER BY state = 'within', name, label
