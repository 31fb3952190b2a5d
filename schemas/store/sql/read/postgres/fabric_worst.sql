-- Links by seconds lost for certain (the lower end) from $1 to $2, at most $3 of them, with current state and location. The loss of an episode
-- that reaches beyond is counted by the share of its time in the range.
WITH parts AS (
    SELECT e.series_id, e.slowdown_s, e.slowdown_lo_s, e.slowdown_hi_s, e.peak,
           date_part('epoch', least(e.end_time, to_timestamp($2::double precision))
                              - greatest(e.start_time, to_timestamp($1::double precision))) AS contended_s,
           greatest(date_part('epoch', e.end_time - e.start_time), 1e-9) AS length_s
    FROM episodes e WHERE e.end_time > to_timestamp($1::double precision) AND e.start_time < to_timestamp($2::double precision)
), lost AS (
    SELECT p.series_id, sum(p.contended_s / p.length_s * p.slowdown_s) AS lost_s,
           sum(p.contended_s / p.length_s * p.slowdown_lo_s) AS lost_lo_s,
           sum(p.contended_s / p.length_s * p.slowdown_hi_s) AS lost_hi_s, sum(p.contended_s) AS contended_s,
           count(*) AS episodes, max(p.peak) AS peak
    FROM parts p GROUP BY p.series_id
), worst AS MATERIALIZED (
    -- In this order the names of the first few series are read, not of all that lost.
    SELECT w.*, s.name, s.metric
    FROM (SELECT l.* FROM lost l ORDER BY l.lost_lo_s DESC, l.lost_s DESC, l.contended_s DESC) w JOIN series s USING (series_id)
    WHERE s.metric IN (SELECT m.metric FROM metrics m WHERE m.measures = 'link') AND (s.part IS NOT NULL OR NOT EXISTS (
        SELECT FROM series t WHERE t.metric = s.metric AND t.component = s.component AND t.part IS NOT NULL))
    ORDER BY w.lost_lo_s DESC, w.lost_s DESC, w.contended_s DESC, s.name COLLATE "C" LIMIT $3::bigint
), latest AS (
    -- The newest rows are read once for all of them.
    SELECT DISTINCT ON (r.series_id) r.series_id, r.state FROM signals r
    WHERE r.time > latest_time() - interval '20 seconds' AND r.series_id = ANY (ARRAY(SELECT w.series_id FROM worst w))
    ORDER BY r.series_id, r.time DESC
)
SELECT w.name, w.metric, coalesce(n.state, 'unknown'), l.class, l.from_name, l.to_name, w.lost_s, w.lost_lo_s, w.lost_hi_s,
       w.contended_s, w.episodes, w.peak
FROM worst w LEFT JOIN latest n USING (series_id) LEFT JOIN link_places l ON l.series = w.name
ORDER BY w.lost_lo_s DESC, w.lost_s DESC, w.contended_s DESC, w.name COLLATE "C"
