-- Series by seconds lost between ?1 and ?2 (seconds since the epoch), at most ?3 of them, the largest lower end first. Of an episode
-- that crosses an edge of the span, the loss is counted by the share of its time.
SELECT row_number() OVER (ORDER BY e.lost_lo_s DESC, e.lost_s DESC, e.contended_s DESC, s.name) AS rank, s.name AS series, s.metric, e.lost_s,
       e.lost_lo_s, e.lost_hi_s, e.contended_s, e.contended_s / nullif(?2 - ?1, 0) AS contended_share, e.episodes, e.peak, e.completeness,
       (SELECT group_concat(DISTINCT g.name) FROM region_series m JOIN regions g USING (region_id)
        WHERE m.series = s.name AND g.start_time < ?2 AND g.end_time > ?1) AS regions
FROM (SELECT p.series_id, sum(p.contended_s) AS contended_s, count(*) AS episodes, max(p.peak) AS peak,
             avg(p.completeness) AS completeness, sum(p.slowdown_s * p.contended_s / p.length_s) AS lost_s,
             sum(p.slowdown_lo_s * p.contended_s / p.length_s) AS lost_lo_s, sum(p.slowdown_hi_s * p.contended_s / p.length_s) AS lost_hi_s
      FROM (SELECT o.*, min(end_time, ?2) - max(start_time, ?1) AS contended_s, max(end_time - start_time, 1e-9) AS length_s
            FROM episodes o WHERE start_time < ?2 AND end_time > ?1) p GROUP BY p.series_id) e JOIN series s USING (series_id)
ORDER BY rank LIMIT ?3
