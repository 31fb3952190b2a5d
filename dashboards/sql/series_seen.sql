-- Series in all, and those with a signal within the last 5 s of event time.
SELECT count(*), coalesce(sum(l.time >= c.now - 5.0), 0) FROM series_latest l CROSS JOIN clock c
