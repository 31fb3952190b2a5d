INSERT OR REPLACE INTO region_steps (region_id, time, change, other, links, worst_series, worst)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
