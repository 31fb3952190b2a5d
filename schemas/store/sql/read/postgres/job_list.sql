-- Running jobs first, then the latest; or the largest lower end of the loss first, then the largest loss. The ids are picked before nodes are counted.
-- job_count.sql has the same conditions for $4, $6, $7 and $8.
WITH picked AS (
    SELECT j.job_id,
           row_number() OVER (ORDER BY CASE WHEN $5::text = 'slowdown' THEN -coalesce(r.slowdown_lo_s, 0) ELSE 0 END,
                              CASE WHEN $5::text = 'slowdown' THEN -coalesce(r.slowdown_s, 0) ELSE 0 END,
                              j.end_time IS NOT NULL, j.start_time DESC, j.job_id COLLATE "C") AS place
    FROM jobs j LEFT JOIN job_results r USING (job_id)
    WHERE ($1::text IS NULL OR j.job_id = $1)
      AND ($4::text IS NULL OR position(lower($4) IN lower(concat_ws(chr(10), j.job_id, j.user_name, j.name, j.app))) > 0)
      AND ($6::boolean IS NULL OR (j.end_time IS NULL) = $6)
      AND ($7::double precision IS NULL OR coalesce(j.end_time, 'infinity') >= to_timestamp($7::double precision)) AND ($8::double precision IS NULL OR j.start_time <= to_timestamp($8::double precision))
    ORDER BY place
    LIMIT $2::bigint OFFSET $3::bigint
)
SELECT j.job_id, j.user_name, j.name, extract(epoch FROM j.start_time)::double precision,
       extract(epoch FROM j.end_time)::double precision, r.contended_s, r.slowdown_s, r.slowdown_lo_s,
       r.slowdown_hi_s, r.completeness, (SELECT count(*) FROM job_nodes n WHERE n.job_id = j.job_id), j.app,
       r.judged
FROM picked p JOIN jobs j USING (job_id) LEFT JOIN job_results r USING (job_id)
ORDER BY p.place
