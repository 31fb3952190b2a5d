-- Numbers of the series by their latest state, in one text for each; a series without a row for 5 s is in none.
SELECT l.state, group_concat(l.series_id, ' ') FROM clock c JOIN series_latest l ON l.time >= c.now - 5.0 GROUP BY l.state
