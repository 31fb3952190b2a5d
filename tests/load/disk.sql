-- Bytes a day of each tier, of a database that a load run filled: rows of a full minute in its middle, where nothing starts
-- any more, times the bytes of a row after compression. One JSON object, by table. Needs TimescaleDB. Minutes
-- and hours are left out: those of a run do not show the size of days of them.
\set ON_ERROR_STOP 1
\o /dev/null
SELECT compress_chunk(c, if_not_compressed => true) FROM show_chunks('signal_rows') c;
SELECT compress_chunk(c, if_not_compressed => true) FROM show_chunks('signal_buckets') c;
SELECT compress_chunk(c, if_not_compressed => true) FROM show_chunks('place_buckets') c;
VACUUM episodes;
\o

WITH minute AS (
    SELECT date_trunc('minute', max(time)) - interval '1 minute' AS from_time, date_trunc('minute', max(time)) AS until
    FROM signal_rows
), tables AS (
    SELECT 'signal_rows' AS name, count(*) AS rows, count(*) FILTER (WHERE time >= m.from_time AND time < m.until) AS of_minute,
           hypertable_size('signal_rows') AS bytes
    FROM signal_rows, minute m
    UNION ALL
    SELECT 'signal_buckets', count(*), count(*) FILTER (WHERE time >= m.from_time AND time < m.until), hypertable_size('signal_buckets')
    FROM signal_buckets, minute m
    UNION ALL
    SELECT 'place_buckets', count(*), count(*) FILTER (WHERE time >= m.from_time AND time < m.until), hypertable_size('place_buckets')
    FROM place_buckets, minute m
    UNION ALL
    SELECT 'episodes', count(*), count(*) FILTER (WHERE start_time >= m.from_time AND start_time < m.until),
           pg_total_relation_size('episodes')
    FROM episodes, minute m
)
SELECT json_object_agg(name, json_build_object(
    'rows', rows, 'rows_a_minute', of_minute, 'bytes_a_row', round(bytes / greatest(rows, 1)::numeric, 1),
    'gb_a_day', round(of_minute * 1440 * (bytes / greatest(rows, 1)::numeric) / 1e9, 1)))
FROM tables;
