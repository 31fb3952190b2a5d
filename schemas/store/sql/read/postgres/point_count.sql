-- Number of rows of points.sql.
WITH asked AS (SELECT series_id FROM series WHERE name = $1::text)
SELECT (SELECT count(*) FROM signal_rows r
        WHERE $4::text = 'ticks' AND r.series_id = (SELECT series_id FROM asked)
          AND r.time BETWEEN to_timestamp($2::double precision) AND to_timestamp($3::double precision))
     + (SELECT count(*) FROM signals_10s b
        WHERE $4 = '10s' AND b.series_id = (SELECT series_id FROM asked) AND b.ticks > 0
          AND b.time > to_timestamp($2) - interval '10 seconds' AND b.time <= to_timestamp($3))
     + (SELECT count(*) FROM signals_1min b
        WHERE $4 = '1min' AND b.series_id = (SELECT series_id FROM asked) AND b.ticks > 0
          AND b.time > to_timestamp($2) - interval '1 minute' AND b.time <= to_timestamp($3))
     + (SELECT count(*) FROM signals_1h b
        WHERE $4 = '1h' AND b.series_id = (SELECT series_id FROM asked) AND b.ticks > 0
          AND b.time > to_timestamp($2) - interval '1 hour' AND b.time <= to_timestamp($3))
