-- Details of the run, and notes on its results.
SELECT s.job_id AS job, s.label, s.user_name, s.name, s.configuration, s.start_time AS from_time, s.start_time + make_interval(secs => s.run_s) AS until_time,
       concat_ws('; ', CASE WHEN s.end_time IS NULL THEN 'runs, or its end never arrived'
                            WHEN s.end_presumed THEN 'end not reported' END, nullif(s.caveat, '')) AS note
FROM job_slowdown s WHERE s.job_id = job_named(${job:sqlstring})
