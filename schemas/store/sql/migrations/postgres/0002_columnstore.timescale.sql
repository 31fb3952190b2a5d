-- Signals and ten seconds as hypertables in the columnstore. No segmentby: one commit holds one row of each series,
-- and a batch of one row costs twenty times as much (measured). Ordered by series, a batch holds a thousand
-- neighbours of one tick, and after the policy has merged a chunk, a thousand ticks of one series. One migration for each
-- group of tables: a migration that moves existing rows holds a lock on each chunk that it creates.

-- Batches carry the ranges of series and time; the heap holds only small commits until the policy moves them.
DROP INDEX signal_rows_by_series;
DROP INDEX signal_rows_by_time;
SELECT create_hypertable('signal_rows', 'time', chunk_time_interval => interval '1 hour',
                         create_default_indexes => false, migrate_data => true);
ALTER TABLE signal_rows SET (timescaledb.compress, timescaledb.compress_segmentby = '',
                             timescaledb.compress_orderby = 'series_id, time');

DROP INDEX signal_buckets_by_series;
DROP INDEX signal_buckets_by_time;
-- Few chunks of existing rows. New ones are short, so that rows are compressed within hours: what is not yet in the
-- columnstore is read each minute (sums, dashboards), and takes four times the room.
SELECT create_hypertable('signal_buckets', 'time', chunk_time_interval => interval '6 hours',
                         create_default_indexes => false, migrate_data => true);
SELECT set_chunk_time_interval('signal_buckets', interval '3 hours');
ALTER TABLE signal_buckets SET (timescaledb.compress, timescaledb.compress_segmentby = '',
                                timescaledb.compress_orderby = 'series_id, time');

-- The newest minutes are found by ranges of pages. Every range is new once: without a summary of its own it is read until
-- the next vacuum. The server queues 256 requests for summaries and processes them once a minute: a system of Trinity's
-- size makes 47 in that time.
CREATE INDEX signal_buckets_by_time ON signal_buckets USING brin (time) WITH (pages_per_range = 256, autosummarize = on);
