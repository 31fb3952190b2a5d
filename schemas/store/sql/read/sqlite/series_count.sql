-- Number of series that match the filters of now_series.sql.
SELECT count(*) FROM series_now
WHERE (?1 IS NULL OR metric = ?1) AND (?2 IS NULL OR state = ?2) AND (?3 IS NULL OR instr(name, ?3) > 0)
