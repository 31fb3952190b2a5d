SELECT item, unit, value_a, value_b, difference, note FROM compare_jobs WHERE job_a = ?1 AND job_b = ?2
