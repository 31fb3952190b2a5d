-- Each partition has its own numbers: the returned id is 10^12 times the partition plus the number.
SELECT e.source_partition * 1000000000000 + e.id, s.name, s.metric, s.component, s.part,
       extract(epoch FROM e.start_time)::double precision, extract(epoch FROM e.end_time)::double precision, e.open,
       extract(epoch FROM e.end_time - e.start_time)::double precision, e.peak, e.baseline, e.slowdown_s,
       e.slowdown_lo_s, e.slowdown_hi_s, e.completeness, e.causes::text
FROM episodes e JOIN series s USING (series_id)
WHERE e.source_partition = ($1::bigint / 1000000000000)::integer AND e.id = $1::bigint % 1000000000000
