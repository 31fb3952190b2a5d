DELETE FROM region_victims WHERE region_id = ?1
