SELECT count(*) FROM episodes WHERE (?1 IS NULL OR open = ?1) AND (?2 IS NULL OR end_time >= ?2) AND (?3 IS NULL OR start_time <= ?3)
