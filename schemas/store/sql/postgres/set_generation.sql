UPDATE state_generation SET generation = $1
