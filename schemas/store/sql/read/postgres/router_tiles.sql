-- The series of the router $1: its tiles, and itself where the part is null; with current state and incoming link.
WITH tiles AS MATERIALIZED (
    SELECT s.series_id, s.name, s.part FROM series s
    WHERE s.metric = 'aries_stall_ratio' AND s.component = $1::text ORDER BY s.part COLLATE "C" NULLS FIRST LIMIT $2::bigint
), latest AS (
    -- The newest rows are read once for all of them.
    SELECT DISTINCT ON (r.series_id) r.series_id, r.state, r.value, r.mean, r.baseline, r.bound FROM signals r
    WHERE r.time > latest_time() - interval '20 seconds' AND r.series_id = ANY (ARRAY(SELECT t.series_id FROM tiles t))
    ORDER BY r.series_id, r.time DESC
), lost AS (
    SELECT e.series_id, sum(e.slowdown_s) AS lost_s, sum(e.slowdown_lo_s) AS lost_lo_s, sum(e.slowdown_hi_s) AS lost_hi_s
    FROM episodes e WHERE e.series_id = ANY (ARRAY(SELECT t.series_id FROM tiles t)) GROUP BY 1
)
SELECT t.name, t.part, coalesce(n.state, 'unknown'), n.value::text::double precision, n.mean::text::double precision,
       n.baseline::text::double precision, n.bound::text::double precision, e.lost_s, l.class, l.from_name, l.to_name, e.lost_lo_s, e.lost_hi_s
FROM tiles t LEFT JOIN latest n USING (series_id) LEFT JOIN lost e USING (series_id) LEFT JOIN link_places l ON l.series = t.name
ORDER BY t.part COLLATE "C" NULLS FIRST
