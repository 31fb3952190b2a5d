-- Not REPLACE: that would delete the row first, and with it everything that refers to the job.
INSERT INTO jobs (job_id, user_name, name, start_time, end_time, app, label, end_presumed)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT (job_id) DO UPDATE SET
    user_name = excluded.user_name, name = excluded.name, start_time = excluded.start_time,
    end_time = excluded.end_time, app = excluded.app, label = excluded.label, end_presumed = excluded.end_presumed
