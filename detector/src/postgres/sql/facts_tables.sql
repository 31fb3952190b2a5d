SELECT relname::text, pg_total_relation_size(oid), NULL::double precision
FROM pg_class
WHERE oid IN ('signal_rows'::regclass, 'signal_buckets'::regclass, 'signal_minutes'::regclass,
              'signal_hours'::regclass, 'episodes'::regclass, 'series'::regclass,
              'producers'::regclass, 'stage_snapshots'::regclass)
ORDER BY 2 DESC
