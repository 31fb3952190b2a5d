-- Running jobs first, then the latest; or the largest lower end of the loss first, then the largest loss. The ids are picked before nodes are counted.
-- job_count.sql has the same conditions for ?4, ?6, ?7 and ?8.
WITH picked AS (
    SELECT j.job_id,
           row_number() OVER (ORDER BY CASE ?5 WHEN 'slowdown' THEN -coalesce(r.slowdown_lo_s, 0.0) ELSE 0.0 END,
                              CASE ?5 WHEN 'slowdown' THEN -coalesce(r.slowdown_s, 0.0) ELSE 0.0 END,
                              j.end_time IS NOT NULL, j.start_time DESC, j.job_id) AS place
    FROM jobs j LEFT JOIN job_results r USING (job_id)
    WHERE (?1 IS NULL OR j.job_id = ?1)
      AND (?4 IS NULL OR instr(lower(concat_ws(char(10), j.job_id, j.user_name, j.name, j.app)), lower(?4)) > 0)
      AND (?6 IS NULL OR (j.end_time IS NULL) = ?6)
      AND (?7 IS NULL OR coalesce(j.end_time, 9e18) >= ?7) AND (?8 IS NULL OR j.start_time <= ?8)
    ORDER BY place
    LIMIT ?2 OFFSET ?3
)
SELECT j.job_id, j.user_name, j.name, j.start_time, j.end_time, j.contended_s, j.slowdown_s, j.slowdown_lo_s,
       j.slowdown_hi_s, j.completeness, (SELECT count(*) FROM job_nodes n WHERE n.job_id = j.job_id), a.app,
       j.judged
FROM picked p JOIN job_slowdown j USING (job_id) JOIN jobs a USING (job_id)
ORDER BY p.place
