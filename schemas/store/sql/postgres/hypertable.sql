SELECT EXISTS (SELECT FROM schema_migrations WHERE name = '0002_columnstore')
