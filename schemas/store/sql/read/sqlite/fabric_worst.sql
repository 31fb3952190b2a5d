-- Links by seconds lost for certain (the lower end) from ?1 to ?2, at most ?3 of them, with current state and location. The loss of an episode
-- that reaches beyond is counted by the share of its time in the range.
WITH lost AS (
    SELECT p.series_id, sum(p.share * p.slowdown_s) AS lost_s, sum(p.share * p.slowdown_lo_s) AS lost_lo_s,
           sum(p.share * p.slowdown_hi_s) AS lost_hi_s, sum(p.contended_s) AS contended_s, count(*) AS episodes,
           max(p.peak) AS peak
    FROM (SELECT e.*, min(e.end_time, ?2) - max(e.start_time, ?1) AS contended_s,
                 (min(e.end_time, ?2) - max(e.start_time, ?1)) / max(e.end_time - e.start_time, 1e-9) AS share
          FROM episodes e WHERE e.end_time > ?1 AND e.start_time < ?2) p
    GROUP BY p.series_id
)
SELECT n.name, n.metric, n.state, l.class, l.from_name, l.to_name, w.lost_s, w.lost_lo_s, w.lost_hi_s, w.contended_s, w.episodes, w.peak
FROM lost w JOIN series_now n USING (series_id) LEFT JOIN link_places l ON l.series = n.name
WHERE n.metric IN (SELECT m.metric FROM metrics m WHERE m.measures = 'link') AND (n.part IS NOT NULL OR NOT EXISTS (
    SELECT 1 FROM series t WHERE t.metric = n.metric AND t.component = n.component AND t.part IS NOT NULL))
ORDER BY w.lost_lo_s DESC, w.lost_s DESC, w.contended_s DESC, n.name LIMIT ?3
