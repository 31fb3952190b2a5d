-- Tables by size, and the compression of those in the columnstore.
SELECT name AS table_name, bytes, uncompressed_bytes, compressed_bytes,
       uncompressed_bytes::double precision / nullif(compressed_bytes, 0) AS compression
FROM storage_sizes() ORDER BY bytes DESC NULLS LAST LIMIT 20
