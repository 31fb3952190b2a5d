-- Timeline of each region.
CREATE VIEW region_history AS
SELECT s.region_id, s.time AS at_time, s.change, nullif(s.other, 0) AS other, o.name AS other_name, s.links, s.worst_series,
       s.worst
FROM region_steps s LEFT JOIN regions o ON o.region_id = s.other
ORDER BY s.region_id, s.time, s.change, s.other;

-- Series by seconds lost in all that the store contains, the largest lower end first; `sql/read/sqlite/worst_links.sql` takes a span of time.
CREATE VIEW worst_links AS
SELECT row_number() OVER (ORDER BY e.lost_lo_s DESC, e.lost_s DESC, e.contended_s DESC, s.name) AS rank, s.name AS series, s.metric, e.lost_s,
       e.lost_lo_s, e.lost_hi_s, e.contended_s, e.episodes, e.peak, e.completeness,
       (SELECT group_concat(DISTINCT g.name) FROM region_series m JOIN regions g USING (region_id)
        WHERE m.series = s.name) AS regions
FROM (SELECT series_id, sum(slowdown_s) AS lost_s, sum(slowdown_lo_s) AS lost_lo_s, sum(slowdown_hi_s) AS lost_hi_s,
             sum(end_time - start_time) AS contended_s, count(*) AS episodes, max(peak) AS peak,
             avg(completeness) AS completeness
      FROM episodes GROUP BY series_id) e JOIN series s USING (series_id)
ORDER BY rank;
