-- The size of hypertables is that of their chunks, and what the columnstore saves is known.
CREATE OR REPLACE FUNCTION storage_sizes()
    RETURNS TABLE (name text, bytes bigint, uncompressed_bytes bigint, compressed_bytes bigint)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH hypertables AS (
        SELECT coalesce(a.view_name, h.hypertable_name)::text AS name, h.hypertable_schema, h.hypertable_name,
               format('%I.%I', h.hypertable_schema, h.hypertable_name)::regclass AS relation
        FROM timescaledb_information.hypertables h
        LEFT JOIN timescaledb_information.continuous_aggregates a
               ON (a.materialization_hypertable_schema, a.materialization_hypertable_name)
                  = (h.hypertable_schema, h.hypertable_name)
    )
    SELECT s.* FROM (
        SELECT h.name, hypertable_size(h.relation) AS bytes, c.before_compression_total_bytes AS uncompressed_bytes,
               c.after_compression_total_bytes AS compressed_bytes
        FROM hypertables h LEFT JOIN LATERAL hypertable_compression_stats(h.relation) c ON true
        UNION ALL
        SELECT c.relname::text, pg_total_relation_size(c.oid), NULL, NULL
        FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
          AND c.oid NOT IN (SELECT h.relation FROM hypertables h)
    ) s ORDER BY s.bytes DESC
$$;
