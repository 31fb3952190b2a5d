-- Contended stretches that reach beyond ?1, by metric; an ongoing one has no end. A component as a whole counts only where its
-- links have no series of their own.
SELECT e.start_time, CASE WHEN e.open THEN 9e15 ELSE e.end_time END, s.metric, m.measures = 'link', 1
FROM episodes e JOIN series s USING (series_id) JOIN metrics m USING (metric)
WHERE (e.end_time >= ?1 OR e.open) AND (m.measures <> 'link' OR s.part IS NOT NULL OR NOT EXISTS (
    SELECT 1 FROM series t WHERE t.metric = s.metric AND t.component = s.component AND t.part IS NOT NULL))
