-- Received share of the data of the span, least complete first.
SELECT kind, CASE WHEN kind = 'system' THEN 'everything' ELSE name END AS name, completeness, sources, silent_now
FROM completeness($__timeFrom(), $__timeTo()) WHERE kind IN ('group', 'system')
ORDER BY kind = 'system' DESC, completeness, name LIMIT 200
