SET LOCAL timescaledb.enable_direct_compress_copy = {on_or_off}
