-- What belongs to a region no longer stays in its history, without a position. Rows that do not change are not written.
WITH reported AS (
    SELECT DISTINCT ON (1, 2) s.region_id, s.series, s.position
    FROM unnest($2::bigint[], $3::text[], $4::integer[]) AS s (region_id, series, position)
    ORDER BY 1, 2, 3
), gone AS (
    UPDATE region_series s SET position = NULL
    WHERE s.region_id = ANY ($1::bigint[]) AND s.position IS NOT NULL
      AND NOT EXISTS (SELECT FROM reported t WHERE t.region_id = s.region_id AND t.series = s.series)
)
INSERT INTO region_series AS s (region_id, series, position)
SELECT t.region_id, t.series, t.position FROM reported t
ON CONFLICT (region_id, series) DO UPDATE SET position = excluded.position
    WHERE s.position IS DISTINCT FROM excluded.position
