-- In the order of the key, so that two writers take their locks in the same order.
INSERT INTO jobs (job_id, user_name, name, start_time, end_time, app, label, end_presumed)
SELECT DISTINCT ON (j.job_id) j.job_id, j.user_name, j.name, to_timestamp(j.start_s), to_timestamp(j.end_s), j.app,
       j.label, j.end_presumed
FROM unnest($1::text[], $2::text[], $3::text[], $4::double precision[], $5::double precision[], $6::text[], $7::text[],
            $8::boolean[])
    WITH ORDINALITY AS j (job_id, user_name, name, start_s, end_s, app, label, end_presumed, place)
ORDER BY j.job_id, j.place DESC
ON CONFLICT (job_id) DO UPDATE SET
    user_name = excluded.user_name, name = excluded.name, start_time = excluded.start_time,
    end_time = excluded.end_time, app = excluded.app, label = excluded.label, end_presumed = excluded.end_presumed
