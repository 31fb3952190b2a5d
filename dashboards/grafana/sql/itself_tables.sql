-- Tables by size, and what the columnstore saves of those that it holds.
SELECT name AS table_name, bytes, uncompressed_bytes, compressed_bytes,
       uncompressed_bytes::double precision / nullif(compressed_bytes, 0) AS compression
FROM storage_sizes() ORDER BY bytes DESC NULLS LAST LIMIT 20
