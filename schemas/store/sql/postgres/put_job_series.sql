INSERT INTO job_series (job_id, series_id)
SELECT DISTINCT p.job_id, p.series_id FROM unnest($1::text[], $2::integer[]) AS p (job_id, series_id)
ORDER BY 1, 2
ON CONFLICT DO NOTHING
