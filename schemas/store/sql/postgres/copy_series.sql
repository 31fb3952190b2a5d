COPY series (series_id, name, metric, component, part) FROM STDIN (FORMAT BINARY)
