-- What the server is and may: version, settings, roles, rights. Works before any migration.
SELECT current_setting('server_version_num')::integer,
       current_user::text,
       pg_is_in_recovery(),
       extract(epoch FROM clock_timestamp())::double precision,
       pg_database_size(current_database()),
       (SELECT count(*)::integer FROM pg_stat_activity WHERE backend_type = 'client backend'),
       current_setting('max_connections')::integer,
       current_setting('fsync')::boolean AND current_setting('full_page_writes')::boolean,
       pg_size_bytes(current_setting('shared_buffers')),
       pg_size_bytes(current_setting('max_wal_size')),
       ARRAY(SELECT rolname::text FROM pg_roles
             WHERE rolname IN ('tailback_writer', 'tailback_reader', 'tailback_user') ORDER BY 1),
       coalesce((SELECT has_table_privilege(oid, 'INSERT') FROM pg_class WHERE oid = to_regclass('public.signal_rows'))
                AND has_table_privilege(to_regclass('public.stage_positions'), 'UPDATE'), false),
       coalesce(has_table_privilege(to_regclass('public.stage_snapshots'), 'SELECT'), false),
       to_regclass('public.signal_rows') IS NOT NULL,
       -- The session itself is read-only: what other sessions of the account begin with.
       (SELECT reset_val::boolean FROM pg_settings WHERE name = 'default_transaction_read_only')
