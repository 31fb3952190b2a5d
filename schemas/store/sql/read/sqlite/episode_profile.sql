SELECT profile FROM episodes WHERE id = ?1
