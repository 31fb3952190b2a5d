-- Series of ports.
SELECT metric, component, part FROM public.series
WHERE part IS NOT NULL AND metric IN (SELECT m.metric FROM public.metrics m WHERE m.measures = 'link') ORDER BY series_id LIMIT 2000000
