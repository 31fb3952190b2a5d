SELECT version, content FROM state WHERE name = ?1
