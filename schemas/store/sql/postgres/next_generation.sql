UPDATE state_generation SET generation = generation + 1
