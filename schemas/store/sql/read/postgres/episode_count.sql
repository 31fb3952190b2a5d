-- Counting stops at `EPISODES_COUNTED`: episodes of many months on a large machine take too long to count.
SELECT count(*) FROM (SELECT FROM episodes WHERE $1::boolean IS NULL OR open = $1 LIMIT 100000) e
