-- Episodes that pass the filters $1 to $9 of episode_search_count.sql, by the column $10: rising where $11 is 1, falling where it is -1, rows
-- without a value last; without a column open ones first, then the latest.
WITH picked AS (
    SELECT e.source_partition, e.id,
           row_number() OVER (ORDER BY
               $11::double precision * CASE $10::text WHEN 'episode' THEN e.source_partition * 1e12::double precision + e.id
                   WHEN 'start' THEN extract(epoch FROM e.start_time)::double precision
                   WHEN 'length' THEN extract(epoch FROM e.end_time - e.start_time)::double precision WHEN 'lost' THEN e.slowdown_lo_s
                   WHEN 'completeness' THEN e.completeness END NULLS LAST,
               $11::double precision * CASE $10::text WHEN 'lost' THEN e.slowdown_s END NULLS LAST,
               CASE WHEN $11::double precision > 0 THEN w.word END COLLATE "C" NULLS LAST,
               CASE WHEN $11::double precision < 0 THEN w.word END COLLATE "C" DESC NULLS LAST,
               e.open DESC, e.start_time DESC, e.source_partition DESC, e.id DESC) AS place
    FROM episodes e JOIN series s USING (series_id) CROSS JOIN LATERAL (
        SELECT CASE $10::text WHEN 'series' THEN s.name WHEN 'cause' THEN e.causes -> 0 ->> 'cause' END AS word
    ) w
    WHERE ($1::boolean IS NULL OR e.open = $1::boolean)
      AND ($2::double precision IS NULL OR e.end_time >= to_timestamp($2::double precision))
      AND ($3::double precision IS NULL OR e.start_time <= to_timestamp($3::double precision))
      AND ($4::text IS NULL OR s.name = $4::text)
      AND ($5::text IS NULL AND $6::text IS NULL
           OR EXISTS (SELECT FROM job_series u JOIN jobs j USING (job_id)
                      WHERE u.series_id = e.series_id AND ($5::text IS NULL OR j.job_id = $5::text) AND ($6::text IS NULL OR j.user_name = $6::text)
                        AND j.start_time <= e.end_time AND coalesce(j.end_time, 'infinity') >= e.start_time))
      AND ($7::text IS NULL OR s.component = $7::text OR s.component IN (SELECT n.switch FROM node_places n WHERE n.node = $7::text))
      AND ($8::text IS NULL OR e.causes @> jsonb_build_array(jsonb_build_object('cause', $8::text)) OR $8::text = 'unknown' AND e.causes = '[]')
      AND ($9::text IS NULL OR s.part = $9::text AND EXISTS (SELECT FROM metrics m WHERE m.metric = s.metric AND m.resource IS NOT NULL))
    ORDER BY place
    LIMIT $12::bigint OFFSET $13::bigint
)
SELECT e.source_partition * 1000000000000 + e.id, s.name, s.metric, s.component, s.part,
       extract(epoch FROM e.start_time)::double precision, extract(epoch FROM e.end_time)::double precision, e.open,
       extract(epoch FROM e.end_time - e.start_time)::double precision, e.peak, e.baseline, e.slowdown_s,
       e.slowdown_lo_s, e.slowdown_hi_s, e.completeness, e.causes::text
FROM picked p JOIN episodes e USING (source_partition, id) JOIN series s USING (series_id)
ORDER BY p.place
