INSERT INTO betas (configuration, version, beta, beta_lo, beta_hi, clear_s, runs, learnt_until)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
