-- Links, and clients of file systems: how many there are, how many have data, and how many are contended. One with several
-- metrics counts once. A component as a whole counts only where its links have series of their own in no metric.
WITH latest AS MATERIALIZED (
    SELECT DISTINCT ON (r.series_id) r.series_id, r.state FROM signal_rows r
    WHERE r.time > latest_time() - interval '20 seconds'
    ORDER BY r.series_id, r.time DESC
), places AS (
    SELECT m.measures, s.component, s.part, coalesce(bool_or(l.state <> 4), false) AS reporting,
           coalesce(bool_or(l.state = 2), false) AS contended
    FROM series s JOIN metrics m USING (metric) LEFT JOIN latest l USING (series_id)
    WHERE m.measures IN ('link', 'progress') GROUP BY 1, 2, 3
), components AS (
    SELECT measures, count(part) AS parts, count(*) FILTER (WHERE part IS NOT NULL AND reporting) AS parts_reporting,
           count(*) FILTER (WHERE part IS NOT NULL AND contended) AS parts_contended,
           bool_or(reporting)::int AS reporting, bool_or(contended)::int AS contended
    FROM places GROUP BY measures, component
)
SELECT measures, sum(greatest(parts, 1))::bigint, sum(CASE WHEN parts > 0 THEN parts_reporting ELSE reporting END)::bigint,
       sum(CASE WHEN parts > 0 THEN parts_contended ELSE contended END)::bigint
FROM components GROUP BY measures
