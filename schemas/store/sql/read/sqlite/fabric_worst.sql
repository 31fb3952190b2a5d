-- Links by seconds lost for certain (the lower end) in the latest ?1 seconds, at most ?2 of them, with current state and location. The loss of an episode
-- that began before is counted by the share of its time in the range.
WITH span AS (SELECT now - ?1 AS from_time FROM clock), lost AS (
    SELECT p.series_id, sum(p.share * p.slowdown_s) AS lost_s, sum(p.share * p.slowdown_lo_s) AS lost_lo_s,
           sum(p.share * p.slowdown_hi_s) AS lost_hi_s, sum(p.contended_s) AS contended_s, count(*) AS episodes,
           max(p.peak) AS peak
    FROM (SELECT e.*, e.end_time - max(e.start_time, f.from_time) AS contended_s,
                 (e.end_time - max(e.start_time, f.from_time)) / max(e.end_time - e.start_time, 1e-9) AS share
          FROM episodes e CROSS JOIN span f WHERE e.end_time > f.from_time) p
    GROUP BY p.series_id
)
SELECT n.name, n.metric, n.state, l.class, l.from_name, l.to_name, w.lost_s, w.lost_lo_s, w.lost_hi_s, w.contended_s, w.episodes, w.peak
FROM lost w JOIN series_now n USING (series_id) LEFT JOIN link_places l ON l.series = n.name
WHERE n.metric IN (SELECT m.metric FROM metrics m WHERE m.measures = 'link') AND (n.part IS NOT NULL OR NOT EXISTS (
    SELECT 1 FROM series t WHERE t.metric = n.metric AND t.component = n.component AND t.part IS NOT NULL))
ORDER BY w.lost_lo_s DESC, w.lost_s DESC, w.contended_s DESC, n.name LIMIT ?2
