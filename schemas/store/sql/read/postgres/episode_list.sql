-- The ids are picked first, so that the long profile and causes of the others are never read.
WITH picked AS (
    SELECT e.source_partition, e.id
    FROM episodes e
    WHERE ($1::boolean IS NULL OR e.open = $1)
      AND ($4::double precision IS NULL OR e.end_time >= to_timestamp($4::double precision)) AND ($5::double precision IS NULL OR e.start_time <= to_timestamp($5::double precision))
    ORDER BY e.open DESC, e.start_time DESC, e.source_partition DESC, e.id DESC
    LIMIT $2::bigint OFFSET $3::bigint
)
SELECT e.source_partition * 1000000000000 + e.id, s.name, s.metric, s.component, s.part,
       extract(epoch FROM e.start_time)::double precision, extract(epoch FROM e.end_time)::double precision, e.open,
       extract(epoch FROM e.end_time - e.start_time)::double precision, e.peak, e.baseline, e.slowdown_s,
       e.slowdown_lo_s, e.slowdown_hi_s, e.completeness, e.causes::text
FROM picked p JOIN episodes e USING (source_partition, id) JOIN series s USING (series_id)
ORDER BY e.open DESC, e.start_time DESC, e.source_partition DESC, e.id DESC
