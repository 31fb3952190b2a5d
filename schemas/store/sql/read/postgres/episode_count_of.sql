-- Number of episodes that match the filters of episode_list_of.sql.
SELECT count(*) FROM (
    SELECT e.source_partition, e.id, e.open, e.start_time
    FROM (SELECT series_id FROM series WHERE name = $2::text
          UNION ALL SELECT series_id FROM job_series WHERE $2::text IS NULL AND job_id = $3::text) u
    CROSS JOIN LATERAL (
        SELECT j.start_time, coalesce(j.end_time, 'infinity') AS end_time FROM job_series js JOIN jobs j USING (job_id)
        WHERE js.job_id = $3 AND js.series_id = u.series_id
        UNION ALL SELECT '-infinity', 'infinity' WHERE $3 IS NULL
    ) run
    CROSS JOIN LATERAL (
        -- A seek for each series, whatever number of rows the planner expects: OFFSET keeps it from reading all.
        SELECT o.source_partition, o.id, o.open, o.start_time FROM episodes o
        WHERE o.series_id = u.series_id AND ($1::boolean IS NULL OR o.open = $1)
          AND o.start_time <= run.end_time AND o.end_time >= run.start_time
          AND ($4::double precision IS NULL OR o.end_time >= to_timestamp($4::double precision)) AND ($5::double precision IS NULL OR o.start_time <= to_timestamp($5::double precision))
        OFFSET 0
    ) e
) e
