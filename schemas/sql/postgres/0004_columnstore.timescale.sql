-- Signals and the first tier as hypertables in the columnstore. No segmentby: one commit holds one row of each series,
-- and a batch of one row costs twenty times as much (measured). Ordered by series, a batch holds a thousand
-- neighbours of one tick, and after the policy has merged a chunk, a thousand ticks of one series.

-- Batches carry the ranges of series and time; the heap holds only small commits until the policy moves them.
DROP INDEX signal_rows_by_series;
DROP INDEX signal_rows_by_time;
SELECT create_hypertable('signal_rows', 'time', chunk_time_interval => interval '1 hour',
                         create_default_indexes => false, migrate_data => true);
ALTER TABLE signal_rows SET (timescaledb.compress, timescaledb.compress_segmentby = '',
                             timescaledb.compress_orderby = 'series_id, time');

DROP INDEX signal_buckets_by_series;
DROP INDEX signal_buckets_by_time;
SELECT create_hypertable('signal_buckets', 'time', chunk_time_interval => interval '6 hours',
                         create_default_indexes => false, migrate_data => true);
ALTER TABLE signal_buckets SET (timescaledb.compress, timescaledb.compress_segmentby = '',
                                timescaledb.compress_orderby = 'series_id, time');
