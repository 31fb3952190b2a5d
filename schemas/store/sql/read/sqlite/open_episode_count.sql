SELECT count(*) FROM episodes WHERE open = 1
