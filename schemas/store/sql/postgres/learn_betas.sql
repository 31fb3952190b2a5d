SELECT learn_betas()
