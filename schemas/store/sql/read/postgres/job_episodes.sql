-- What a user may see of them: cut to the run, without profile and causes.
SELECT n.series, n.metric, e.id, e.series_id::bigint, extract(epoch FROM e.from_time)::double precision,
       extract(epoch FROM e.until_time)::double precision, e.open, coalesce(e.peak, 0), coalesce(e.baseline, 0), e.lost_s,
       e.lost_lo_s, e.lost_hi_s, e.completeness, NULL::text, NULL::text
FROM job_episodes e JOIN job_resources n USING (job_id, series_id)
WHERE e.job_id = $1 ORDER BY e.from_time, n.series
