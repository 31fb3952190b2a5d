-- Whether the account sees the rows of all users: those that the policies show to `tailback_reader`. Null before the first migration.
SELECT CASE WHEN to_regclass('public.signal_rows') IS NOT NULL AND to_regclass('public.schema_migrations') IS NOT NULL THEN
    has_table_privilege(to_regclass('public.signal_rows'), 'SELECT')
    AND has_table_privilege(to_regclass('public.schema_migrations'), 'SELECT')
    AND (SELECT bool_or(pg_has_role(r.oid, 'USAGE')) FROM pg_roles r
         WHERE r.rolname IN ('tailback_reader', 'tailback_writer')
            OR r.oid = (SELECT relowner FROM pg_class WHERE oid = to_regclass('public.signal_rows')))
END
