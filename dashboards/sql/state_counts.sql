SELECT state, count(*), sum(slowdown_s) FROM series_now GROUP BY state
