-- Jobs that used the series in the span, and the regions that it belonged to.
SELECT 'job' AS part, j.job_id AS job, NULL::text AS region, concat_ws(' ', j.user_name, j.name) AS name, j.start_time AS from_time,
       j.end_time AS until_time
FROM job_series js JOIN jobs j USING (job_id)
WHERE js.series_id = (SELECT series_id FROM series WHERE name = ${series:sqlstring})
  AND j.start_time < $__timeTo() AND coalesce(j.end_time, $__timeTo()) > $__timeFrom()
UNION ALL
SELECT 'region', NULL, r.region_id::text, r.name, r.start_time, CASE WHEN NOT r.open THEN r.end_time END
FROM region_series m JOIN regions r USING (region_id)
WHERE m.series = ${series:sqlstring} AND r.start_time < $__timeTo() AND (r.open OR r.end_time > $__timeFrom())
ORDER BY 1, 5 DESC LIMIT 200
