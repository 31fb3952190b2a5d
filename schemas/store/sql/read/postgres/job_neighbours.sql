-- Jobs that ran at the same time as $1 and shared a resource; a row for each kind of resource, with some of the names.
SELECT job_id, user_name, name, extract(epoch FROM from_time)::double precision, extract(epoch FROM until_time)::double precision,
       overlap_s, shared, count, what
FROM job_neighbours($1::text) ORDER BY overlap_s DESC, job_id COLLATE "C", shared COLLATE "C" LIMIT $2::bigint
