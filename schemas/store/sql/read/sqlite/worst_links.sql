-- Series by seconds lost between ?1 and ?2 (seconds since the epoch), at most ?3 of them, the worst first. Of an episode
-- that crosses an edge of the span, the loss is counted by the share of its time.
SELECT row_number() OVER (ORDER BY e.lost_s DESC, e.contended_s DESC, s.name) AS rank, s.name AS series, s.metric, e.lost_s,
       e.contended_s, e.contended_s / nullif(?2 - ?1, 0) AS contended_share, e.episodes, e.peak, e.completeness,
       (SELECT group_concat(DISTINCT g.name) FROM region_series m JOIN regions g USING (region_id)
        WHERE m.series = s.name AND g.start_time < ?2 AND g.end_time > ?1) AS regions
FROM (SELECT series_id, sum(min(end_time, ?2) - max(start_time, ?1)) AS contended_s, count(*) AS episodes, max(peak) AS peak,
             avg(completeness) AS completeness,
             sum(slowdown_s * (min(end_time, ?2) - max(start_time, ?1)) / max(end_time - start_time, 1e-9)) AS lost_s
      FROM episodes WHERE start_time < ?2 AND end_time > ?1 GROUP BY series_id) e JOIN series s USING (series_id)
ORDER BY rank LIMIT ?3
