CREATE TABLE IF NOT EXISTS schema_migrations (
    version    integer NOT NULL,
    name       text PRIMARY KEY,
    checksum   bigint NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
)
