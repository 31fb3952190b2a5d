-- Minutes and hours get tables of their own (0030); what was aggregated of them waits aside until 0031 takes it over.
SELECT remove_continuous_aggregate_policy('signals_1h', if_exists => true),
       remove_continuous_aggregate_policy('signals_1min', if_exists => true);
ALTER MATERIALIZED VIEW signals_1h RENAME TO hours_aggregated;
ALTER MATERIALIZED VIEW signals_1min RENAME TO minutes_aggregated;
