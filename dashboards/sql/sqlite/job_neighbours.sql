-- Jobs that ran at the same time as ?1 and shared something; a row for each way of sharing, with some of what is shared.
SELECT job_id, user_name, name, from_time, until_time, overlap_s, shared, count, substr(what, 1, 1000)
FROM job_neighbours WHERE of_job = ?1 ORDER BY overlap_s DESC, job_id, shared LIMIT ?2
