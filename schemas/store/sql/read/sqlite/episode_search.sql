-- Episodes that are open (?1), touch the time from ?2 to ?3, of the series ?4, of a series of the job ?5 and of the user ?6 while the job
-- ran, of the node ?7 and its switch or of the switch ?7, with the cause ?8, of clients of the file system ?9. By the column ?10: rising where
-- ?11 is 1, falling where it is -1, rows without a value last; without a column open ones first, then the latest. The first column is the
-- number of matches, the second null, since all episodes are searched; without a match on the page the others are null.
WITH known AS MATERIALIZED (
    SELECT e.id, e.open, e.start_time, e.end_time, e.slowdown_s, e.slowdown_lo_s, e.completeness,
           CASE ?10 WHEN 'series' THEN s.name WHEN 'cause' THEN json_extract(e.causes, '$[0].cause') END AS word
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
), picked AS (
    SELECT k.id,
           row_number() OVER (ORDER BY
               ?11 * CASE ?10 WHEN 'episode' THEN k.id WHEN 'start' THEN k.start_time WHEN 'length' THEN k.end_time - k.start_time
                              WHEN 'lost' THEN k.slowdown_lo_s WHEN 'completeness' THEN k.completeness END NULLS LAST,
               ?11 * CASE ?10 WHEN 'lost' THEN k.slowdown_s END NULLS LAST,
               CASE WHEN ?11 > 0 THEN k.word END NULLS LAST, CASE WHEN ?11 < 0 THEN k.word END DESC NULLS LAST,
               k.open DESC, k.start_time DESC, k.id DESC) AS place
    FROM known k
    ORDER BY place
    LIMIT ?12 OFFSET ?13
)
SELECT c.total, NULL, s.id, s.series, s.metric, s.component, s.part, s.start_time, s.end_time, s.open, s.duration_s, s.peak,
       s.baseline, s.slowdown_s, s.slowdown_lo_s, s.slowdown_hi_s, s.completeness, s.causes
FROM (SELECT count(*) AS total FROM known) c LEFT JOIN picked p ON true LEFT JOIN series_episodes s ON s.id = p.id
ORDER BY p.place
