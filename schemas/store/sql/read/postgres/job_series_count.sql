-- How many series the job uses; a user may not see when they reported last.
SELECT count(*), 0::bigint, 0::bigint FROM job_series WHERE job_id = $1
