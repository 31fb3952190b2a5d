-- State of Tailback, one row.
SELECT extract(epoch FROM now() - (SELECT now FROM clock))::double precision AS data_age_s,
       (SELECT max(extract(epoch FROM committed_at - event_time)) FROM stage_positions)::double precision AS latency_s,
       (SELECT coalesce(sum(rows), 0) FROM producers) AS rows, (SELECT coalesce(sum(count), 0) FROM dropped_rows) AS dropped_rows,
       (SELECT coalesce(sum(count), 0) FROM dropped_rows WHERE reason = 'late') AS late_rows,
       (SELECT count(*) FROM sources WHERE state IN ('silent', 'never seen')) AS silent_sources,
       pg_database_size(current_database()) AS database_bytes,
       (SELECT sum(uncompressed_bytes) / nullif(sum(compressed_bytes), 0) FROM storage_sizes()) AS compression
