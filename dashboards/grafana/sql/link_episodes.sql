-- Episodes of the series in the span.
SELECT e.id AS episode, e.start_time AS from_time, e.end_time AS until_time, CASE WHEN e.open THEN 'open' ELSE 'ended' END AS state,
       extract(epoch FROM e.end_time - e.start_time)::double precision AS duration_s, e.peak, e.baseline, e.slowdown_s AS lost_s,
       e.slowdown_lo_s AS lost_lo_s, e.slowdown_hi_s AS lost_hi_s, e.completeness, c.cause, c.who
FROM episodes e LEFT JOIN LATERAL (
    SELECT x->>'cause' AS cause, x->>'series_or_job' AS who FROM jsonb_array_elements(e.causes) AS x
    ORDER BY (x->>'share')::double precision DESC LIMIT 1
) c ON true
WHERE e.series_id = (SELECT series_id FROM series WHERE name = ${series:sqlstring})
  AND e.start_time < $__timeTo() AND e.end_time > $__timeFrom()
ORDER BY e.start_time DESC LIMIT 200
