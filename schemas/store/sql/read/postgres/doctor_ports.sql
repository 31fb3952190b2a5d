-- Series of ports.
SELECT metric, component, part FROM public.series
WHERE part IS NOT NULL AND metric NOT LIKE 'lustre%' ORDER BY series_id LIMIT 2000000
