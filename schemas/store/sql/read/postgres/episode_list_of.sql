-- As episode_list.sql, of the series $4, or of those of the job $5 while it ran: found by their series.
WITH picked AS (
    SELECT e.source_partition, e.id, e.open, e.start_time
    FROM (SELECT series_id FROM series WHERE name = $4::text
          UNION ALL SELECT series_id FROM job_series WHERE $4::text IS NULL AND job_id = $5::text) u
    CROSS JOIN LATERAL (
        SELECT j.start_time, coalesce(j.end_time, 'infinity') AS end_time FROM job_series js JOIN jobs j USING (job_id)
        WHERE js.job_id = $5 AND js.series_id = u.series_id
        UNION ALL SELECT '-infinity', 'infinity' WHERE $5 IS NULL
    ) run
    CROSS JOIN LATERAL (
        -- A seek for each series, whatever number of rows the planner expects: OFFSET keeps it from reading all.
        SELECT o.source_partition, o.id, o.open, o.start_time FROM episodes o
        WHERE o.series_id = u.series_id AND ($1::boolean IS NULL OR o.open = $1)
          AND o.start_time <= run.end_time AND o.end_time >= run.start_time
          AND ($6::double precision IS NULL OR o.end_time >= to_timestamp($6::double precision)) AND ($7::double precision IS NULL OR o.start_time <= to_timestamp($7::double precision))
        OFFSET 0
    ) e
    ORDER BY e.open DESC, e.start_time DESC, e.source_partition DESC, e.id DESC
    LIMIT $2::bigint OFFSET $3::bigint
)
SELECT e.source_partition * 1000000000000 + e.id, s.name, s.metric, s.component, s.part,
       extract(epoch FROM e.start_time)::double precision, extract(epoch FROM e.end_time)::double precision, e.open,
       extract(epoch FROM e.end_time - e.start_time)::double precision, e.peak, e.baseline, e.slowdown_s,
       e.slowdown_lo_s, e.slowdown_hi_s, e.completeness, e.causes::text
FROM picked p JOIN episodes e USING (source_partition, id) JOIN series s USING (series_id)
ORDER BY e.open DESC, e.start_time DESC, e.source_partition DESC, e.id DESC
