-- Jobs that ran at the same time and shared a switch, a group, a file system or a region; a row for each way of sharing.
CREATE VIEW job_neighbours AS
WITH things AS (
    SELECT n.job_id, 'switch' AS shared, p.switch AS what FROM job_nodes n JOIN node_places p USING (node)
    UNION
    SELECT n.job_id, 'group', p.group_name FROM job_nodes n JOIN node_places p USING (node) WHERE p.group_name IS NOT NULL
    UNION
    SELECT js.job_id, 'file system', s.part FROM job_series js JOIN series s USING (series_id)
    WHERE s.metric IN (SELECT m.metric FROM metrics m WHERE m.measures = 'progress') AND s.part IS NOT NULL
    UNION
    SELECT v.job_id, 'region', r.name FROM region_victims v JOIN regions r USING (region_id)
    UNION
    SELECT c.series_or_job, 'region', r.name FROM region_causes c JOIN regions r USING (region_id)
)
SELECT a.job_id AS of_job, b.job_id, j.user_name, j.name, max(a.start_time, b.start_time) AS from_time,
       min(a.until_time, b.until_time) AS until_time,
       min(a.until_time, b.until_time) - max(a.start_time, b.start_time) AS overlap_s, mine.shared, count(*) AS count,
       group_concat(mine.what, ', ') AS what
FROM job_runs a JOIN job_runs b ON b.job_id <> a.job_id AND b.start_time < a.until_time AND b.until_time > a.start_time
JOIN things mine ON mine.job_id = a.job_id
JOIN things theirs ON theirs.job_id = b.job_id AND theirs.shared = mine.shared AND theirs.what = mine.what
JOIN jobs j ON j.job_id = b.job_id
GROUP BY a.job_id, b.job_id, mine.shared
ORDER BY overlap_s DESC, b.job_id, mine.shared;
