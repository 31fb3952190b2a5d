SELECT DISTINCT part FROM series WHERE metric IN (SELECT m.metric FROM metrics m WHERE m.measures = 'progress') AND part IS NOT NULL ORDER BY 1
