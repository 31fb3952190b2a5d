-- Minutes and hours of every series as continuous aggregates of the ten seconds, beside the tables that the detector writes: what
-- the server's processor, disk and latency would pay for them.
--     tests/load/run --minutes 1 --policy changes --paced 180 --sql tests/load/series_aggregates.sql
CREATE MATERIALIZED VIEW aggregated_1min WITH (timescaledb.continuous, timescaledb.materialized_only = false) AS
SELECT series_id, time_bucket(interval '1 minute', time) AS time,
       sum(value * ticks) / nullif(sum(ticks) FILTER (WHERE value IS NOT NULL), 0) AS value,
       min(value_min) AS value_min, max(value_max) AS value_max, avg(mean) AS mean, avg(baseline) AS baseline,
       sum(ticks) AS ticks, sum(contended_ticks) AS contended_ticks, last(slowdown_s, time) AS slowdown_s
FROM signal_buckets GROUP BY 1, 2 WITH NO DATA;
CREATE MATERIALIZED VIEW aggregated_1h WITH (timescaledb.continuous, timescaledb.materialized_only = false) AS
SELECT series_id, time_bucket(interval '1 hour', time) AS time,
       sum(value * ticks) / nullif(sum(ticks) FILTER (WHERE value IS NOT NULL), 0) AS value,
       min(value_min) AS value_min, max(value_max) AS value_max, avg(mean) AS mean, avg(baseline) AS baseline,
       sum(ticks)::bigint AS ticks, sum(contended_ticks)::bigint AS contended_ticks, last(slowdown_s, time) AS slowdown_s
FROM aggregated_1min GROUP BY 1, 2 WITH NO DATA;
SELECT add_continuous_aggregate_policy('aggregated_1min', interval '6 hours', interval '2 minutes', interval '1 minute');
SELECT add_continuous_aggregate_policy('aggregated_1h', interval '2 days', interval '70 minutes', interval '10 minutes');
