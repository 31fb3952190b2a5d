SELECT EXISTS (SELECT FROM timescaledb_information.jobs
               WHERE proc_name = 'policy_refresh_continuous_aggregate' AND hypertable_name = 'places_1h')
