-- Incidents that touch the time from ?1 to ?2 and are open (?3); ?4 is the user of an affected job or of one that caused them, or of a job
-- with clients of the file system; ?5 a switch of the links, a node of such a switch or a contended client; ?6 the cause; ?7 the file system.
-- By the column ?8: rising where ?9 is 1, falling where it is -1, rows without a value last; without a column open ones first, then by the
-- lower end of the loss.
SELECT i.about, i.incident, i.region_id, i.mount, i.metric, i.name, i.start_time, i.end_time, i.open, i.members, i.kind, i.cause,
       i.who, i.confidence, i.completeness, i.lost_s, i.lost_lo_s, i.lost_hi_s, i.lost_by, count(*) OVER ()
FROM (SELECT i.*, CASE ?8 WHEN 'name' THEN i.name WHEN 'kind' THEN i.kind WHEN 'cause' THEN i.cause WHEN 'source' THEN i.who END AS word
      FROM incidents i) i
WHERE (?1 IS NULL OR i.end_time >= ?1) AND (?2 IS NULL OR i.start_time <= ?2) AND (?3 IS NULL OR i.open = ?3)
  AND (?4 IS NULL
       OR EXISTS (SELECT 1 FROM region_victims v JOIN jobs j USING (job_id) WHERE v.region_id = i.region_id AND j.user_name = ?4)
       OR EXISTS (SELECT 1 FROM region_causes c JOIN jobs j ON j.job_id = c.series_or_job WHERE c.region_id = i.region_id AND j.user_name = ?4)
       OR EXISTS (SELECT 1 FROM jobs j JOIN job_series u USING (job_id) JOIN series s USING (series_id) JOIN metrics m USING (metric)
                  WHERE i.region_id IS NULL AND j.user_name = ?4 AND s.part = i.mount AND m.resource IS NOT NULL
                    AND j.start_time <= i.end_time AND (j.end_time IS NULL OR j.end_time >= i.start_time)))
  AND (?5 IS NULL
       OR EXISTS (SELECT 1 FROM region_series r JOIN series s ON s.name = r.series
                  WHERE r.region_id = i.region_id
                    AND (s.component = ?5 OR s.component IN (SELECT n.switch FROM node_places n WHERE n.node = ?5)))
       OR EXISTS (SELECT 1 FROM series s JOIN episodes e USING (series_id)
                  WHERE i.region_id IS NULL AND s.component = ?5 AND s.metric = i.metric AND s.part = i.mount
                    AND e.start_time <= i.end_time AND e.end_time >= i.start_time))
  AND (?6 IS NULL OR i.cause = ?6) AND (?7 IS NULL OR i.mount = ?7)
ORDER BY ?9 * CASE ?8 WHEN 'start' THEN i.start_time WHEN 'length' THEN i.end_time - i.start_time WHEN 'size' THEN i.members
                      WHEN 'lost' THEN i.lost_lo_s END NULLS LAST,
         ?9 * CASE ?8 WHEN 'lost' THEN i.lost_s END NULLS LAST,
         CASE WHEN ?9 > 0 THEN i.word END NULLS LAST, CASE WHEN ?9 < 0 THEN i.word END DESC NULLS LAST,
         i.open DESC, coalesce(i.lost_lo_s, -1) DESC, i.start_time DESC, i.incident LIMIT ?10 OFFSET ?11
