SELECT count(*) FROM region_steps WHERE region_id = $1::bigint
