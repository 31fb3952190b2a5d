-- Counting stops at `EPISODES_COUNTED`: episodes of many months on a large machine take too long to count.
SELECT count(*) FROM (SELECT FROM episodes WHERE ($1::boolean IS NULL OR open = $1)
    AND ($2::double precision IS NULL OR end_time >= to_timestamp($2::double precision)) AND ($3::double precision IS NULL OR start_time <= to_timestamp($3::double precision)) LIMIT 100000) e
