-- Number of jobs with the text $1, running ($2), that touch the time from $3 to $4, of the user $5, on the node $6, that lost time to the
-- cause $7, with clients of the file system $8.
SELECT count(*)
FROM jobs j LEFT JOIN job_results r USING (job_id)
WHERE ($1::text IS NULL OR position(lower($1::text) IN lower(concat_ws(chr(10), j.job_id, j.user_name, j.name, j.app))) > 0)
  AND ($2::boolean IS NULL OR (j.end_time IS NULL) = $2::boolean)
  AND ($3::double precision IS NULL OR coalesce(j.end_time, 'infinity') >= to_timestamp($3::double precision))
  AND ($4::double precision IS NULL OR j.start_time <= to_timestamp($4::double precision))
  AND ($5::text IS NULL OR j.user_name = $5::text)
  AND ($6::text IS NULL OR EXISTS (SELECT FROM job_nodes n WHERE n.job_id = j.job_id AND n.node = $6::text))
  AND ($7::text IS NULL OR r.slowdown_s > 0 AND (
           j.job_id IN (SELECT c.job_id FROM job_causes c WHERE c.cause = $7::text)
           OR $7::text = 'unknown' AND j.job_id NOT IN (SELECT c.job_id FROM job_causes c)))
  AND ($8::text IS NULL OR j.job_id IN (SELECT u.job_id FROM job_mounts u WHERE u.mount = $8::text))
