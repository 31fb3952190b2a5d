COPY signal_minutes (time, slowdown_s, series_id, value, value_min, value_max, mean, baseline, ticks, contended_ticks,
                     passed_per_s, waited_per_s)
FROM STDIN (FORMAT binary)
