COPY signal_rows (time, slowdown_s, series_id, value, mean, baseline, bound, state, ticks, passed_per_s,
                  waited_per_s) FROM STDIN (FORMAT binary)
