-- Samplers, with the time of their last row.
SELECT producer, schema, extract(epoch FROM max(last_time))::double precision
FROM public.producers GROUP BY 1, 2 ORDER BY 3 LIMIT 500000
