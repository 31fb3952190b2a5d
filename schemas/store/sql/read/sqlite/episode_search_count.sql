-- Number of episodes that are open (?1), touch the time from ?2 to ?3, of the series ?4, of a series of the job ?5 and of the user ?6 while
-- the job ran, of the node ?7 and its switch or of the switch ?7, with the cause ?8, of clients of the file system ?9.
SELECT count(*)
FROM episodes e JOIN series s USING (series_id)
WHERE (?1 IS NULL OR e.open = ?1) AND (?2 IS NULL OR e.end_time >= ?2) AND (?3 IS NULL OR e.start_time <= ?3)
  AND (?4 IS NULL OR s.name = ?4)
  AND (?5 IS NULL AND ?6 IS NULL
       OR EXISTS (SELECT 1 FROM job_series u JOIN jobs j USING (job_id)
                  WHERE u.series_id = e.series_id AND (?5 IS NULL OR j.job_id = ?5) AND (?6 IS NULL OR j.user_name = ?6)
                    AND j.start_time <= e.end_time AND (j.end_time IS NULL OR j.end_time >= e.start_time)))
  AND (?7 IS NULL OR s.component = ?7 OR s.component IN (SELECT n.switch FROM node_places n WHERE n.node = ?7))
  AND (?8 IS NULL OR EXISTS (SELECT 1 FROM json_each(e.causes) c WHERE json_extract(c.value, '$.cause') = ?8)
       OR ?8 = 'unknown' AND json_array_length(e.causes) = 0)
  AND (?9 IS NULL OR s.part = ?9 AND EXISTS (SELECT 1 FROM metrics m WHERE m.metric = s.metric AND m.resource IS NOT NULL))
