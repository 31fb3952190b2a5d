-- What is made of the tier below when it is asked for, as rows: the state that would write them is forgotten.
INSERT INTO signal_minutes (time, slowdown_s, series_id, value, value_min, value_max, mean, baseline, ticks, contended_ticks,
                            passed_per_s, waited_per_s)
SELECT time, slowdown_s, series_id, value, value_min, value_max, mean, baseline, ticks, contended_ticks, passed_per_s,
       waited_per_s
FROM signals_1min v
WHERE v.time >= minutes_written_until()
  AND NOT EXISTS (SELECT FROM signal_minutes w
                  WHERE w.time >= minutes_written_until() AND w.time = v.time AND w.series_id = v.series_id)
