COPY signal_buckets (time, slowdown_s, series_id, value, value_min, value_max, mean, baseline, ticks, contended_ticks)
FROM STDIN (FORMAT binary)
