-- No further than a month of a large machine can be counted while somebody waits; `EPISODES_COUNTED` says so.
SELECT count(*) FROM (SELECT FROM episodes WHERE $1::boolean IS NULL OR open = $1 LIMIT 100000) e
