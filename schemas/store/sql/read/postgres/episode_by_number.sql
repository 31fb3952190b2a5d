SELECT s.name, s.metric, s.component, e.series_id::bigint, extract(epoch FROM e.start_time)::double precision,
       extract(epoch FROM e.end_time)::double precision, e.open, coalesce(e.peak, 'NaN'), coalesce(e.baseline, 'NaN'), e.slowdown_s,
       e.slowdown_lo_s, e.slowdown_hi_s, e.completeness, e.causes::text
FROM episodes e JOIN series s USING (series_id) WHERE e.source_partition = $1::bigint::integer AND e.id = $2
