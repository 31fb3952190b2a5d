SELECT count(*) FROM episodes WHERE ?1 IS NULL OR open = ?1
