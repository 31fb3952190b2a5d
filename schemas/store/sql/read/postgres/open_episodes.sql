SELECT source_partition * 1000000000000 + id FROM episodes WHERE open ORDER BY 1 LIMIT 1000
