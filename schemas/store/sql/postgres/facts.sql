SELECT current_setting('server_version'),
       (SELECT extversion FROM pg_extension WHERE extname = 'timescaledb'),
       to_regclass('schema_migrations') IS NOT NULL
