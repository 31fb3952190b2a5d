-- What belongs to the region no longer stays in its history, without a place.
UPDATE region_series SET position = NULL WHERE region_id = ?1
