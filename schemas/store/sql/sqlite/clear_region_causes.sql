DELETE FROM region_causes WHERE region_id = ?1
