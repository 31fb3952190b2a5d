-- Sources that the site file names and of which no row ever came.
SELECT producer, schema FROM public.sources
WHERE in_site_file AND NOT event_driven AND state = 'never seen'
ORDER BY 1, 2 LIMIT 100000
