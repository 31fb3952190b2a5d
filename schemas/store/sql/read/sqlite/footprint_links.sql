-- Links of the job ?1, each direction once: those that its nodes or their switches measure, and those of regions that it waits in.
SELECT DISTINCT l.from_name, l.to_name FROM link_places l WHERE l.series IN (
    SELECT s.name FROM job_series u JOIN series s USING (series_id) WHERE u.job_id = ?1
    UNION
    SELECT r.series FROM region_victims v JOIN region_series r USING (region_id) WHERE v.job_id = ?1 AND r.position IS NOT NULL
) ORDER BY 1, 2 LIMIT ?2
