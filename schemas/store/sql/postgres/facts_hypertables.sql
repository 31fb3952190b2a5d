SELECT n.name, coalesce(hypertable_size(n.name::regclass), pg_total_relation_size(n.name::regclass)),
       (SELECT s.before_compression_total_bytes::double precision / nullif(s.after_compression_total_bytes, 0)
        FROM hypertable_compression_stats(n.name::regclass) s)
FROM (VALUES ('signal_rows'), ('signal_buckets'), ('signal_minutes'), ('signal_hours'), ('place_buckets'), ('places_10s'),
             ('places_1min'), ('places_1h')) AS n (name)
WHERE to_regclass(n.name) IS NOT NULL
ORDER BY 2 DESC
