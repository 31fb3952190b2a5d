-- Rows that were not used, since the tables were made.
SELECT reason, count FROM public.dropped_rows ORDER BY 2 DESC
