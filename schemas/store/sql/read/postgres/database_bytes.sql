-- The size at its latest report: measuring it needs a look at each file of the server.
SELECT coalesce((SELECT value FROM health_minutes WHERE figure = 'database_bytes' AND label = '' ORDER BY time DESC LIMIT 1)::bigint,
                pg_database_size(current_database()))
