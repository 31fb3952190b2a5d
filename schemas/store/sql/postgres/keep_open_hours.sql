-- What is made of the tier below when it is asked for, as rows: the state that would write them is forgotten.
INSERT INTO signal_hours (time, slowdown_s, series_id, value, value_min, value_max, mean, baseline, ticks, contended_ticks,
                          passed_per_s, waited_per_s)
SELECT time, slowdown_s, series_id, value, value_min, value_max, mean, baseline, ticks, contended_ticks, passed_per_s,
       waited_per_s
FROM signals_1h v
WHERE v.time >= date_bin('1 hour', minutes_written_until(), 'epoch')
  AND NOT EXISTS (SELECT FROM signal_hours w
                  WHERE w.time >= date_bin('1 hour', minutes_written_until(), 'epoch') AND w.time = v.time AND w.series_id = v.series_id)
