-- As it was told last: to measure it, the server looks at each of its files.
SELECT coalesce((SELECT value FROM health_minutes WHERE figure = 'database_bytes' AND label = '' ORDER BY time DESC LIMIT 1)::bigint,
                pg_database_size(current_database()))
