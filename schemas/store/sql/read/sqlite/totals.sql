-- Everything that is counted over all series, in one pass: how many there are, how many have a signal within the
-- last 5 s, their loss, and the states; series without data are unknown, whatever their latest state.
SELECT count(*), coalesce(sum(reporting), 0), coalesce(sum(slowdown_s), 0.0),
       coalesce(sum(reporting AND state = 'warmup'), 0), coalesce(sum(reporting AND state = 'clear'), 0),
       coalesce(sum(reporting AND state = 'contended'), 0), coalesce(sum(reporting AND state = 'idle'), 0),
       coalesce(sum(NOT reporting OR state = 'unknown'), 0)
FROM (SELECT l.time >= c.now - 5.0 AS reporting, l.state, l.slowdown_s FROM clock c CROSS JOIN series_latest l)
