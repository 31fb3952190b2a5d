SELECT j.job_id, j.label, j.user_name, j.name, extract(epoch FROM j.start_time)::double precision,
       extract(epoch FROM j.end_time)::double precision, j.end_presumed,
       ARRAY(SELECT n.node FROM job_nodes n WHERE n.job_id = j.job_id ORDER BY 1)
FROM jobs j ORDER BY j.start_time, j.job_id
