-- Number of episodes that are open ($1), touch the time from $2 to $3, of the series $4, of a series of the job $5 and of the user $6 while
-- the job ran, of the node $7 and its switch or of the switch $7, with the cause $8, of clients of the file system $9. Counting stops at
-- `EPISODES_COUNTED`, as in episode_count.sql.
SELECT count(*) FROM (
    SELECT
    FROM episodes e JOIN series s USING (series_id)
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
    LIMIT 100000
) e
