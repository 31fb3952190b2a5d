-- Jobs that ran at the same time and shared a resource.
SELECT job_id AS job, user_name, name, from_time, until_time, overlap_s, shared, count, what
FROM job_neighbours(${job:sqlstring}) LIMIT 200
