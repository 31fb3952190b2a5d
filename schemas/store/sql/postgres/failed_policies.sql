SELECT j.job_id, j.proc_name || ' of ' || j.hypertable_name
FROM timescaledb_information.jobs j JOIN timescaledb_information.job_stats s USING (job_id)
WHERE j.hypertable_name IN ('signal_rows', 'signal_buckets', 'signal_minutes', 'signal_hours', 'place_buckets', 'places_10s',
                            'places_1min', 'places_1h')
  AND j.scheduled AND s.last_run_status = 'Failed'
ORDER BY j.job_id
