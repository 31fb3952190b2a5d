-- Statements that aggregate what no policy was there for: of each aggregate, after that which it is made from, the span from the
-- oldest row below to what its policy leaves to the next run, or to the latest that was over where the stages have stood for longer.
SELECT format('CALL refresh_continuous_aggregate(%L, %L::timestamptz, %L::timestamptz)', a.name, a.from_time, a.until)
FROM (SELECT t.place, t.name, date_bin(t.step, t.oldest, 'epoch') AS from_time,
             date_bin(t.step, least(now() - t.newest, (SELECT now FROM clock)), 'epoch') AS until
      FROM (VALUES (1, 'places_10s', interval '10 seconds', interval '30 seconds', (SELECT min(time) FROM place_buckets)),
                   (2, 'places_1min', interval '1 minute', interval '2 minutes', (SELECT min(time) FROM places_10s)),
                   (3, 'places_1h', interval '1 hour', interval '70 minutes', (SELECT min(time) FROM places_1min)))
               AS t (place, name, step, newest, oldest)) a
WHERE a.from_time < a.until
  AND NOT EXISTS (SELECT FROM timescaledb_information.jobs
                  WHERE proc_name = 'policy_refresh_continuous_aggregate' AND hypertable_name = a.name)
ORDER BY a.place
