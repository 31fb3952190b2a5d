SELECT count(*) FROM region_series WHERE region_id = $1::bigint
