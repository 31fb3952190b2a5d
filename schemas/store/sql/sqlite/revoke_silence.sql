DELETE FROM silences WHERE producer = ?1 AND schema = ?2 AND component = ?3 AND part = ?4 AND from_time = ?5
