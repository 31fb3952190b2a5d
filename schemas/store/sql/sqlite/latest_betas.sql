SELECT configuration, version, beta, beta_lo, beta_hi, clear_s, runs, learnt_until FROM betas b
WHERE version = (SELECT max(version) FROM betas l WHERE l.configuration = b.configuration)
