SELECT j.job_id, j.proc_name::text, coalesce(j.hypertable_name::text, ''), coalesce(s.total_failures, 0),
       (SELECT e.err_message FROM timescaledb_information.job_errors e
        WHERE e.job_id = j.job_id ORDER BY e.finish_time DESC LIMIT 1),
       j.scheduled
FROM timescaledb_information.jobs j LEFT JOIN timescaledb_information.job_stats s USING (job_id)
WHERE j.hypertable_name IN ('signal_rows', 'signal_buckets', 'signal_minutes', 'signal_hours', 'place_buckets', 'places_10s',
                            'places_1min', 'places_1h')
ORDER BY j.job_id
