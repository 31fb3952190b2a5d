-- Minutes and hours as hypertables in the columnstore, with the layout of the ten seconds: one commit holds one row of each
-- series. Chunks are merged by series once they have ended; those of hours are short, so that unmerged ones are read fast.

SELECT create_hypertable('signal_minutes', 'time', chunk_time_interval => interval '12 hours',
                         create_default_indexes => false, migrate_data => true);
SELECT create_hypertable('signal_hours', 'time', chunk_time_interval => interval '5 days',
                         create_default_indexes => false, migrate_data => true);
ALTER TABLE signal_minutes SET (timescaledb.compress, timescaledb.compress_segmentby = '',
                                timescaledb.compress_orderby = 'series_id, time');
ALTER TABLE signal_hours SET (timescaledb.compress, timescaledb.compress_segmentby = '',
                              timescaledb.compress_orderby = 'series_id, time');
