SELECT DISTINCT part FROM series WHERE metric = 'lustre_write_rate' AND part IS NOT NULL ORDER BY 1
