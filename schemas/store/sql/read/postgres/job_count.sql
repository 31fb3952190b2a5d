SELECT count(*) FROM jobs
WHERE ($1::text IS NULL OR position(lower($1) IN lower(concat_ws(chr(10), job_id, user_name, name, app))) > 0)
  AND ($2::boolean IS NULL OR (end_time IS NULL) = $2)
  AND ($3::double precision IS NULL OR coalesce(end_time, 'infinity') >= to_timestamp($3::double precision)) AND ($4::double precision IS NULL OR start_time <= to_timestamp($4::double precision))
