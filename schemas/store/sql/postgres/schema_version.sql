SELECT max(name) FROM schema_migrations
