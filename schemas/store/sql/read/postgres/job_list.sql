-- Jobs that pass the filters $1 to $8 of job_count.sql; $13 is one job. By the column $9, rising where $10 is 1 and falling where it is
-- -1, rows without a value last; without a column running jobs first, then the latest. The ids are picked before nodes are counted.
WITH known AS (
    SELECT j.job_id, j.start_time, j.end_time, r.slowdown_s, r.slowdown_lo_s, r.completeness, r.judged,
           extract(epoch FROM coalesce(j.end_time, (SELECT now FROM clock)) - j.start_time)::double precision AS elapsed_s,
           CASE $9::text WHEN 'job' THEN j.job_id WHEN 'name' THEN j.name
                         WHEN 'cause' THEN c.cause END AS word
    FROM jobs j LEFT JOIN job_results r USING (job_id) LEFT JOIN job_causes c ON c.job_id = j.job_id AND c.position = 0
    WHERE ($13::text IS NULL OR j.job_id = $13::text)
      AND ($1::text IS NULL OR position(lower($1::text) IN lower(concat_ws(chr(10), j.job_id, j.user_name, j.name, j.app))) > 0)
      AND ($2::boolean IS NULL OR (j.end_time IS NULL) = $2::boolean)
      AND ($3::double precision IS NULL OR coalesce(j.end_time, 'infinity') >= to_timestamp($3::double precision))
      AND ($4::double precision IS NULL OR j.start_time <= to_timestamp($4::double precision))
      AND ($5::text IS NULL OR j.user_name = $5::text)
      AND ($6::text IS NULL OR EXISTS (SELECT FROM job_nodes n WHERE n.job_id = j.job_id AND n.node = $6::text))
      AND ($7::text IS NULL OR r.slowdown_s > 0 AND (
               j.job_id IN (SELECT c.job_id FROM job_causes c WHERE c.cause = $7::text)
               OR $7::text = 'unknown' AND j.job_id NOT IN (SELECT c.job_id FROM job_causes c)))
      AND ($8::text IS NULL OR j.job_id IN (SELECT u.job_id FROM job_mounts u WHERE u.mount = $8::text))
), picked AS (
    SELECT k.job_id FROM known k
    ORDER BY $10::double precision * CASE $9::text WHEN 'start' THEN extract(epoch FROM k.start_time)::double precision
                 WHEN 'elapsed' THEN k.elapsed_s WHEN 'lost' THEN k.slowdown_lo_s WHEN 'lost_share' THEN k.slowdown_lo_s / nullif(k.elapsed_s, 0)
                 WHEN 'completeness' THEN k.completeness WHEN 'judged' THEN k.judged WHEN 'job' THEN length(k.job_id) END NULLS LAST,
             $10::double precision * CASE $9::text WHEN 'lost' THEN k.slowdown_s END NULLS LAST,
             CASE WHEN $10::double precision > 0 THEN k.word END COLLATE "C" NULLS LAST,
             CASE WHEN $10::double precision < 0 THEN k.word END COLLATE "C" DESC NULLS LAST,
             k.end_time IS NOT NULL, k.start_time DESC, k.job_id COLLATE "C"
    LIMIT $11::bigint OFFSET $12::bigint
), placed AS (
    SELECT p.job_id, row_number() OVER () AS place FROM picked p
)
SELECT j.job_id, j.user_name, j.name, extract(epoch FROM j.start_time)::double precision,
       extract(epoch FROM j.end_time)::double precision, r.contended_s, r.slowdown_s, r.slowdown_lo_s,
       r.slowdown_hi_s, r.completeness, (SELECT count(*) FROM job_nodes n WHERE n.job_id = j.job_id), j.app,
       r.judged
FROM placed p JOIN jobs j USING (job_id) LEFT JOIN job_results r USING (job_id)
ORDER BY p.place
