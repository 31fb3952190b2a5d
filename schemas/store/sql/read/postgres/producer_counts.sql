SELECT count(*), count(*) FILTER (WHERE p.last_time < c.now - interval '5 seconds'), coalesce(sum(p.rows), 0)::bigint
FROM producers p CROSS JOIN clock c
