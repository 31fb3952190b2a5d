-- The accounts of the composition. psql reads each password from its file, so that no command line shows it.
--
--   tailback_owner   owns the database: `tailback migrate`
--   tailback         the stages: reads and writes rows, changes no table
--   grafana          reads
--
-- None is a superuser, makes roles or makes databases.
SET log_statement = 'none';
SET log_min_error_statement = 'panic';
SET client_min_messages = 'warning';
\set owner_password `cat /run/secrets/database_owner_password`
\set stage_password `cat /run/secrets/database_password`
\set grafana_password `cat /run/secrets/grafana_database_password`

-- An empty password would be none.
SELECT length(:'owner_password') > 0 AND length(:'stage_password') > 0 AND length(:'grafana_password') > 0 AS complete \gset
\if :complete
\else
\warn 'a file of /run/secrets is missing or empty'
DO $$ BEGIN RAISE 'no passwords'; END $$;
\endif

SELECT format('CREATE ROLE %I %s', name, kind)
FROM (VALUES ('tailback_writer', 'NOLOGIN'), ('tailback_reader', 'NOLOGIN'), ('tailback_user', 'NOLOGIN'),
             ('tailback_owner', 'LOGIN'), ('tailback', 'LOGIN'), ('grafana', 'LOGIN')) AS wanted (name, kind)
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) \gexec

ALTER ROLE tailback_owner NOSUPERUSER NOCREATEROLE NOCREATEDB NOREPLICATION NOBYPASSRLS PASSWORD :'owner_password';
ALTER ROLE tailback NOSUPERUSER NOCREATEROLE NOCREATEDB NOREPLICATION NOBYPASSRLS PASSWORD :'stage_password';
ALTER ROLE grafana NOSUPERUSER NOCREATEROLE NOCREATEDB NOREPLICATION NOBYPASSRLS PASSWORD :'grafana_password';
GRANT tailback_writer TO tailback;
GRANT tailback_reader TO grafana;

-- The owner of the database may create tables in `public`; other accounts may not even connect to it.
SELECT format('ALTER DATABASE %I OWNER TO tailback_owner', current_database()) \gexec
SELECT format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database()) \gexec
SELECT format('GRANT CONNECT ON DATABASE %I TO tailback_writer, tailback_reader, tailback_user', current_database()) \gexec
-- Where the server loads it at its start: only then the setting is there.
SELECT 'CREATE EXTENSION IF NOT EXISTS timescaledb' FROM pg_settings WHERE name = 'timescaledb.disable_load' \gexec
