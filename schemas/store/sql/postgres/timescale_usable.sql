-- Any role may read this setting, which the extension's loader alone defines; `shared_preload_libraries` takes pg_read_all_settings.
SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'timescaledb')
    OR (EXISTS (SELECT FROM pg_available_extensions WHERE name = 'timescaledb')
        AND EXISTS (SELECT FROM pg_settings WHERE name = 'timescaledb.disable_load'))
