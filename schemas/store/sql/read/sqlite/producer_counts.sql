SELECT count(*), coalesce(sum(p.last_time < c.now - 5.0), 0), coalesce(sum(p.rows), 0)
FROM producers p CROSS JOIN clock c
