SELECT relname::text, pg_total_relation_size(oid), NULL::double precision
FROM pg_class
WHERE oid IN (to_regclass('signal_rows'), to_regclass('signal_buckets'), to_regclass('signal_minutes'),
              to_regclass('signal_hours'), to_regclass('place_buckets'), to_regclass('place_minutes'),
              to_regclass('place_hours'), to_regclass('episodes'),
              to_regclass('series'), to_regclass('producers'), to_regclass('stage_snapshots'))
ORDER BY 2 DESC
