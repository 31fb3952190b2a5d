SELECT write_factors()
