-- Jobs that used a series at some time between two times, latest first.
SELECT j.job_id, j.user_name, j.name, extract(epoch FROM j.start_time)::double precision,
       extract(epoch FROM j.end_time)::double precision
FROM series s JOIN job_series js USING (series_id) JOIN jobs j USING (job_id)
WHERE s.name = $1::text AND j.start_time <= to_timestamp($3::double precision)
  AND (j.end_time IS NULL OR j.end_time >= to_timestamp($2::double precision))
ORDER BY j.start_time DESC, j.job_id COLLATE "C"
LIMIT 50
