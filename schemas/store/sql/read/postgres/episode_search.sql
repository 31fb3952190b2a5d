-- Episodes that are open ($1), touch the time from $2 to $3, of the series $4, of a series of the job $5 and of the user $6 while the job
-- ran, of the node $7 and its switch or of the switch $7, with the cause $8, of clients of the file system $9. By the column $10: rising where
-- $11 is 1, falling where it is -1, rows without a value last; without a column open ones first, then the latest. The first columns are the
-- number of matches and, where only the latest 50,000 that $1 to $5 and $7 let pass are searched, open ones first, the start of the earliest
-- ended one; without a match on the page the others are null.
WITH latest AS MATERIALIZED (
    SELECT e.source_partition, e.id, e.series_id, e.open, e.start_time, e.end_time, e.slowdown_s, e.slowdown_lo_s, e.completeness,
           CASE WHEN $8::text IS NOT NULL OR $10::text = 'cause' THEN e.causes END AS causes
    FROM episodes e
    WHERE ($1::boolean IS NULL OR e.open = $1::boolean)
      AND ($2::double precision IS NULL OR e.end_time >= to_timestamp($2::double precision))
      AND ($3::double precision IS NULL OR e.start_time <= to_timestamp($3::double precision))
      AND ($4::text IS NULL OR e.series_id = ANY (ARRAY(SELECT s.series_id FROM series s WHERE s.name = $4::text)))
      AND ($5::text IS NULL OR e.series_id = ANY (ARRAY(SELECT u.series_id FROM job_series u WHERE u.job_id = $5::text))
           AND e.start_time <= (SELECT coalesce(j.end_time, 'infinity') FROM jobs j WHERE j.job_id = $5::text)
           AND e.end_time >= (SELECT j.start_time FROM jobs j WHERE j.job_id = $5::text))
      AND ($7::text IS NULL OR e.series_id = ANY (ARRAY(
              SELECT s.series_id FROM series s
              WHERE s.component = $7::text OR s.component IN (SELECT n.switch FROM node_places n WHERE n.node = $7::text))))
    ORDER BY e.open DESC, e.start_time DESC, e.source_partition DESC, e.id DESC
    LIMIT 50000
), runs AS MATERIALIZED (
    SELECT u.series_id, range_agg(tstzrange(j.start_time, greatest(j.start_time, coalesce(j.end_time, 'infinity')), '[]')) AS during
    FROM jobs j JOIN job_series u USING (job_id)
    WHERE ($5::text IS NOT NULL OR $6::text IS NOT NULL)
      AND ($5::text IS NULL OR j.job_id = $5::text) AND ($6::text IS NULL OR j.user_name = $6::text)
      AND j.start_time <= (SELECT max(l.end_time) FROM latest l) AND coalesce(j.end_time, 'infinity') >= (SELECT min(l.start_time) FROM latest l)
    GROUP BY u.series_id
), matching AS MATERIALIZED (
    SELECT e.source_partition, e.id, e.open, e.start_time, e.end_time, e.slowdown_s, e.slowdown_lo_s, e.completeness, w.word
    FROM latest e LEFT JOIN series s USING (series_id) LEFT JOIN runs r USING (series_id) CROSS JOIN LATERAL (
        SELECT CASE $10::text WHEN 'series' THEN s.name WHEN 'cause' THEN e.causes -> 0 ->> 'cause' END AS word
    ) w
    WHERE ($5::text IS NULL AND $6::text IS NULL OR r.during && tstzrange(e.start_time, e.end_time, '[]'))
      AND ($8::text IS NULL OR e.causes @> jsonb_build_array(jsonb_build_object('cause', $8::text)) OR $8::text = 'unknown' AND e.causes = '[]')
      AND ($9::text IS NULL OR s.part = $9::text AND EXISTS (SELECT FROM metrics m WHERE m.metric = s.metric AND m.resource IS NOT NULL))
), picked AS (
    SELECT m.source_partition, m.id FROM matching m
    ORDER BY $11::double precision * CASE $10::text WHEN 'episode' THEN m.source_partition * 1e12::double precision + m.id
                 WHEN 'start' THEN extract(epoch FROM m.start_time)::double precision
                 WHEN 'length' THEN extract(epoch FROM m.end_time - m.start_time)::double precision WHEN 'lost' THEN m.slowdown_lo_s
                 WHEN 'completeness' THEN m.completeness END NULLS LAST,
             $11::double precision * CASE $10::text WHEN 'lost' THEN m.slowdown_s END NULLS LAST,
             CASE WHEN $11::double precision > 0 THEN m.word END COLLATE "C" NULLS LAST,
             CASE WHEN $11::double precision < 0 THEN m.word END COLLATE "C" DESC NULLS LAST,
             m.open DESC, m.start_time DESC, m.source_partition DESC, m.id DESC
    LIMIT $12::bigint OFFSET $13::bigint
), placed AS (
    SELECT p.source_partition, p.id, row_number() OVER () AS place FROM picked p
), searched AS (
    SELECT (SELECT count(*) FROM matching) AS total,
           (SELECT CASE WHEN count(*) = 50000
                         THEN extract(epoch FROM coalesce(min(l.start_time) FILTER (WHERE NOT l.open), min(l.start_time)))::double precision END
            FROM latest l) AS since
)
SELECT c.total, c.since, e.source_partition * 1000000000000 + e.id, s.name, s.metric, s.component, s.part,
       extract(epoch FROM e.start_time)::double precision, extract(epoch FROM e.end_time)::double precision, e.open,
       extract(epoch FROM e.end_time - e.start_time)::double precision, e.peak, e.baseline, e.slowdown_s,
       e.slowdown_lo_s, e.slowdown_hi_s, e.completeness, e.causes::text
FROM searched c LEFT JOIN (placed p JOIN episodes e USING (source_partition, id) JOIN series s USING (series_id)) ON true
ORDER BY p.place
