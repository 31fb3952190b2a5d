-- The tier that fits a range of $3 points: the coarsest that still has a row for each of them, and none that had expired at
-- the start of the range, as in `signals_over`.
WITH kept AS (
    SELECT tier, coalesce(to_timestamp($1::double precision) >= now() - kept_for, true) AS yet FROM tier_retention
), asked AS (
    SELECT ($2::double precision - $1::double precision) / $3::double precision AS step_s
)
SELECT CASE WHEN a.step_s < 10 AND (SELECT yet FROM kept WHERE tier = 'raw') THEN 'ticks'
            WHEN a.step_s < 60 AND (SELECT yet FROM kept WHERE tier = '10s') THEN '10s'
            WHEN a.step_s < 900 AND (SELECT yet FROM kept WHERE tier = '1min') THEN '1min' ELSE '1h' END
FROM asked a
