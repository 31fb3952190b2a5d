-- Jobs that ran at the same time as $1 and shared something; a row for each way of sharing, with some of what is shared.
SELECT job_id, user_name, name, extract(epoch FROM from_time)::double precision, extract(epoch FROM until_time)::double precision,
       overlap_s, shared, count, what
FROM job_neighbours($1::text) ORDER BY overlap_s DESC, job_id COLLATE "C", shared COLLATE "C" LIMIT $2::bigint
