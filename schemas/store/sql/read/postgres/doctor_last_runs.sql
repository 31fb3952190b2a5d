-- Background jobs whose latest run failed.
SELECT job_id FROM timescaledb_information.job_stats WHERE last_run_status = 'Failed'
