COPY signal_rows (time, slowdown_s, series_id, value, mean, baseline, bound, state, ticks) FROM STDIN (FORMAT binary)
