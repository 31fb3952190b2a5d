-- Signals of one series in the tier $4. Of a coarser one a point is at the end of its step, and is contended if a tick of
-- it was; idle is not stored. Other tiers are not in the plan.
WITH asked AS (SELECT series_id FROM series WHERE name = $1::text)
SELECT extract(epoch FROM p.time)::double precision, p.value::text::double precision, p.mean::text::double precision,
       p.baseline::text::double precision, p.bound::text::double precision, p.state, p.slowdown_s
FROM (
    SELECT r.time, r.value, r.mean, r.baseline, r.bound, r.state, r.slowdown_s
    FROM signals r
    WHERE $4::text = 'ticks' AND r.series_id = (SELECT series_id FROM asked)
      AND r.time BETWEEN to_timestamp($2::double precision) AND to_timestamp($3::double precision)
    UNION ALL
    SELECT least(b.time + interval '10 seconds', latest_time()), b.value, b.mean, b.baseline, NULL,
           CASE WHEN b.contended_ticks > 0 THEN 'contended' WHEN b.baseline IS NULL THEN 'warmup' ELSE 'clear' END, b.slowdown_s
    FROM signals_10s b
    WHERE $4 = '10s' AND b.series_id = (SELECT series_id FROM asked) AND b.ticks > 0
      AND b.time > to_timestamp($2) - interval '10 seconds' AND b.time <= to_timestamp($3)
    UNION ALL
    SELECT least(b.time + interval '1 minute', latest_time()), b.value::real, b.mean::real, b.baseline::real, NULL,
           CASE WHEN b.contended_ticks > 0 THEN 'contended' WHEN b.baseline IS NULL THEN 'warmup' ELSE 'clear' END, b.slowdown_s
    FROM signals_1min b
    WHERE $4 = '1min' AND b.series_id = (SELECT series_id FROM asked) AND b.ticks > 0
      AND b.time > to_timestamp($2) - interval '1 minute' AND b.time <= to_timestamp($3)
    UNION ALL
    SELECT least(b.time + interval '1 hour', latest_time()), b.value::real, b.mean::real, b.baseline::real, NULL,
           CASE WHEN b.contended_ticks > 0 THEN 'contended' WHEN b.baseline IS NULL THEN 'warmup' ELSE 'clear' END, b.slowdown_s
    FROM signals_1h b
    WHERE $4 = '1h' AND b.series_id = (SELECT series_id FROM asked) AND b.ticks > 0
      AND b.time > to_timestamp($2) - interval '1 hour' AND b.time <= to_timestamp($3)
) p ORDER BY p.time
