SELECT count(*) FROM jobs
WHERE (?1 IS NULL OR instr(lower(concat_ws(char(10), job_id, user_name, name, app)), lower(?1)) > 0)
  AND (?2 IS NULL OR (end_time IS NULL) = ?2)
  AND (?3 IS NULL OR coalesce(end_time, 9e18) >= ?3) AND (?4 IS NULL OR start_time <= ?4)
