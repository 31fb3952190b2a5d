-- Links by the lower end of the seconds lost in the span, in the latest day of longer ones: a month has millions of episodes.
SELECT w.rank, w.series, l.class, l.from_name, l.to_name, w.lost_s, w.lost_lo_s, w.lost_hi_s, w.contended_share,
       w.episodes, w.peak, w.completeness, w.regions
FROM worst_links(greatest($__timeFrom()::timestamptz, $__timeTo()::timestamptz - interval '1 day'), $__timeTo(), 1000) w
LEFT JOIN link_places l USING (series)
WHERE w.metric IN (SELECT m.metric FROM metrics m WHERE m.measures = 'link') ORDER BY w.rank LIMIT 50
