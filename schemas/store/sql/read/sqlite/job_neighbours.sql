-- Jobs that ran at the same time as ?1 and shared a resource; a row for each kind of resource, with some of the names.
SELECT job_id, user_name, name, from_time, until_time, overlap_s, shared, count, substr(what, 1, 1000)
FROM job_neighbours WHERE of_job = ?1 ORDER BY overlap_s DESC, job_id, shared LIMIT ?2
