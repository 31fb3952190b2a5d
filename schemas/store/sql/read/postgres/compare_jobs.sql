SELECT item, unit, value_a, value_b, difference, note FROM compare_jobs($1, $2)
