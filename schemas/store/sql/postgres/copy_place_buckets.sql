COPY place_buckets (time, value_sum, ticks, contended_ticks, series, contended_series, value_max, kind, name, metric)
FROM STDIN (FORMAT binary)
