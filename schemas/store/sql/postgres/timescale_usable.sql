SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'timescaledb')
    OR (EXISTS (SELECT FROM pg_available_extensions WHERE name = 'timescaledb')
        AND current_setting('shared_preload_libraries') ~ '\mtimescaledb\M')
