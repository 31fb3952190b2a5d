-- Bytes of a row of a minute after compression, from a day of 200 series that move as noise does (the worst to compress),
-- and what one Trinity takes in a day. For an empty database with TimescaleDB that `tailback migrate` made:
--     psql URL -XAtq -f tests/load/minutes.sql
\set ON_ERROR_STOP 1
\o /dev/null
SET client_min_messages = warning;
SELECT setseed(0.5);
INSERT INTO series (name, metric, component, part)
SELECT format('aries_stall_ratio/c0-0c0s0/r%sc%s', n / 10, n % 10), 'aries_stall_ratio', 'c0-0c0s0', format('r%sc%s', n / 10, n % 10)
FROM generate_series(0, 199) n;
INSERT INTO signal_buckets (time, slowdown_s, series_id, value, value_min, value_max, mean, baseline, ticks, contended_ticks)
SELECT t, 0, s.series_id, v, v * (0.85 + 0.1 * random()), v * (1.05 + 0.1 * random()), v * (0.98 + 0.04 * random()), 0.2, 10, 0
FROM series s, generate_series(timestamptz '2026-01-01Z', timestamptz '2026-01-01 23:59:50Z', interval '10 seconds') t,
     LATERAL (SELECT 0.2 * exp(0.2 * (random() + random() + random() - 1.5)) AS v WHERE s.series_id > 0 AND t IS NOT NULL) noise
ORDER BY t, s.series_id;
-- Where no stage was yet, the view makes all minutes of the ten seconds.
INSERT INTO signal_minutes
SELECT time, slowdown_s, series_id, value, value_min, value_max, mean, baseline, ticks, contended_ticks,
       4e8 * (0.9 + 0.2 * random()), 4e8 * value * (0.9 + 0.2 * random()) FROM signals_1min;
SELECT compress_chunk(c, if_not_compressed => true) FROM show_chunks('signal_minutes') c;
\o

WITH tier AS (
    SELECT hypertable_size('signal_minutes') AS bytes, (SELECT count(*) FROM signal_minutes) AS rows
)
SELECT json_build_object('rows', rows, 'bytes_a_row', round(bytes / rows::numeric, 1),
                         'gb_a_day_of_a_trinity', round(220000 * 1440 * (bytes / rows::numeric) / 1e9, 1)) FROM tier;
