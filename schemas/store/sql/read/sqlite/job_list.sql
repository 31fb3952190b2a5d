-- Jobs that pass the filters ?1 to ?8 of job_count.sql; ?13 is one job. By the column ?9, rising where ?10 is 1 and falling where it is
-- -1, rows without a value last; without a column running jobs first, then the latest. The ids are picked before nodes are counted.
WITH known AS (
    SELECT j.job_id, j.start_time, j.end_time, r.slowdown_s, r.slowdown_lo_s, r.completeness, r.judged,
           coalesce(j.end_time, (SELECT now FROM clock)) - j.start_time AS elapsed_s,
           CASE ?9 WHEN 'job' THEN j.job_id WHEN 'name' THEN j.name
                   WHEN 'cause' THEN (SELECT c.cause FROM job_causes c WHERE c.job_id = j.job_id ORDER BY c.position LIMIT 1) END AS word
    FROM jobs j LEFT JOIN job_results r USING (job_id)
    WHERE (?13 IS NULL OR j.job_id = ?13)
      AND (?1 IS NULL OR instr(lower(concat_ws(char(10), j.job_id, j.user_name, j.name, j.app)), lower(?1)) > 0)
      AND (?2 IS NULL OR (j.end_time IS NULL) = ?2)
      AND (?3 IS NULL OR coalesce(j.end_time, 9e18) >= ?3) AND (?4 IS NULL OR j.start_time <= ?4)
      AND (?5 IS NULL OR j.user_name = ?5)
      AND (?6 IS NULL OR EXISTS (SELECT 1 FROM job_nodes n WHERE n.job_id = j.job_id AND n.node = ?6))
      AND (?7 IS NULL OR r.slowdown_s > 0 AND (
               EXISTS (SELECT 1 FROM job_causes c WHERE c.job_id = j.job_id AND c.cause = ?7)
               OR ?7 = 'unknown' AND NOT EXISTS (SELECT 1 FROM job_causes c WHERE c.job_id = j.job_id)))
      AND (?8 IS NULL OR EXISTS (SELECT 1 FROM job_series u JOIN series s USING (series_id) JOIN metrics m USING (metric)
                                 WHERE u.job_id = j.job_id AND s.part = ?8 AND m.resource IS NOT NULL))
), picked AS (
    SELECT k.job_id,
           row_number() OVER (ORDER BY
               ?10 * CASE ?9 WHEN 'start' THEN k.start_time WHEN 'elapsed' THEN k.elapsed_s WHEN 'lost' THEN k.slowdown_lo_s
                             WHEN 'lost_share' THEN k.slowdown_lo_s / nullif(k.elapsed_s, 0) WHEN 'completeness' THEN k.completeness
                             WHEN 'judged' THEN k.judged WHEN 'job' THEN length(k.job_id) END NULLS LAST,
               ?10 * CASE ?9 WHEN 'lost' THEN k.slowdown_s END NULLS LAST,
               CASE WHEN ?10 > 0 THEN k.word END NULLS LAST, CASE WHEN ?10 < 0 THEN k.word END DESC NULLS LAST,
               k.end_time IS NOT NULL, k.start_time DESC, k.job_id) AS place
    FROM known k
    ORDER BY place
    LIMIT ?11 OFFSET ?12
)
SELECT j.job_id, j.user_name, j.name, j.start_time, j.end_time, j.contended_s, j.slowdown_s, j.slowdown_lo_s,
       j.slowdown_hi_s, j.completeness, (SELECT count(*) FROM job_nodes n WHERE n.job_id = j.job_id), a.app,
       j.judged
FROM picked p JOIN job_slowdown j USING (job_id) JOIN jobs a USING (job_id)
ORDER BY p.place
