-- Links, and clients of file systems: how many there are, how many have data, and how many are contended. One with several
-- metrics counts once. A component as a whole counts only where its links have series of their own in no metric.
WITH places AS (
    SELECT m.measures, s.component, s.part, max(l.time >= c.now - 5.0 AND l.state <> 'unknown') AS reporting,
           max(l.time >= c.now - 5.0 AND l.state = 'contended') AS contended
    FROM clock c CROSS JOIN series_latest l JOIN series s USING (series_id) JOIN metrics m USING (metric)
    WHERE m.measures IN ('link', 'progress') GROUP BY 1, 2, 3
), components AS (
    SELECT measures, count(part) AS parts, coalesce(sum(reporting) FILTER (WHERE part IS NOT NULL), 0) AS parts_reporting,
           coalesce(sum(contended) FILTER (WHERE part IS NOT NULL), 0) AS parts_contended,
           max(reporting) AS reporting, max(contended) AS contended
    FROM places GROUP BY measures, component
)
SELECT measures, sum(max(parts, 1)), sum(iif(parts > 0, parts_reporting, reporting)),
       sum(iif(parts > 0, parts_contended, contended))
FROM components GROUP BY measures
