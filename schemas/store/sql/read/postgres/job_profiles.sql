-- The loss profile of every episode of a job's series, at most as many as the job's page lists: they are picked before
-- the long profiles are read.
WITH picked AS (
    SELECT e.source_partition, e.id
    FROM jobs j JOIN job_series js USING (job_id) CROSS JOIN LATERAL (
        SELECT o.source_partition, o.id, o.start_time FROM episodes o
        WHERE o.series_id = js.series_id AND o.end_time >= j.start_time AND (j.end_time IS NULL OR o.start_time <= j.end_time)
        OFFSET 0
    ) e
    WHERE j.job_id = $1::text ORDER BY e.start_time DESC LIMIT 500
)
SELECT extract(epoch FROM e.start_time)::double precision, e.slowdown_s, e.profile::text
FROM picked p JOIN episodes e USING (source_partition, id) ORDER BY e.start_time DESC
