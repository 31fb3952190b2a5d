-- The earliest time after ?1 whose signals are stored; null without any.
SELECT max(?1, 10.0 * min(r.bucket)) FROM signal_rows r
