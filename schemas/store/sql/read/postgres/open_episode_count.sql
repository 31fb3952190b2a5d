SELECT count(*) FROM episodes WHERE open
