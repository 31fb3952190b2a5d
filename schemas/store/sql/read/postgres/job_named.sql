SELECT j.job_id, j.user_name, j.name, extract(epoch FROM j.start_time)::double precision,
       extract(epoch FROM j.end_time)::double precision, j.app, j.label, j.end_presumed,
       extract(epoch FROM r.until_time)::double precision
FROM jobs j JOIN job_runs r USING (job_id) WHERE j.job_id = job_named($1)
