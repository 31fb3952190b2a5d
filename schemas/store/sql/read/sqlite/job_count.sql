-- Number of jobs with the text ?1, running (?2), that touch the time from ?3 to ?4, of the user ?5, on the node ?6, that lost time to the
-- cause ?7, with clients of the file system ?8.
SELECT count(*)
FROM jobs j LEFT JOIN job_results r USING (job_id)
WHERE (?1 IS NULL OR instr(lower(concat_ws(char(10), j.job_id, j.user_name, j.name, j.app)), lower(?1)) > 0)
  AND (?2 IS NULL OR (j.end_time IS NULL) = ?2)
  AND (?3 IS NULL OR coalesce(j.end_time, 9e18) >= ?3) AND (?4 IS NULL OR j.start_time <= ?4)
  AND (?5 IS NULL OR j.user_name = ?5)
  AND (?6 IS NULL OR EXISTS (SELECT 1 FROM job_nodes n WHERE n.job_id = j.job_id AND n.node = ?6))
  AND (?7 IS NULL OR r.slowdown_s > 0 AND (
           EXISTS (SELECT 1 FROM job_causes c WHERE c.job_id = j.job_id AND c.cause = ?7)
           OR ?7 = 'unknown' AND NOT EXISTS (SELECT 1 FROM job_causes c WHERE c.job_id = j.job_id)))
  AND (?8 IS NULL OR EXISTS (SELECT 1 FROM job_series u JOIN series s USING (series_id) JOIN metrics m USING (metric)
                             WHERE u.job_id = j.job_id AND s.part = ?8 AND m.resource IS NOT NULL))
