-- Mean stalls per flit over the span: a line for each row of tiles, a column for each of the eight. Tiles without reports stay empty.
-- Tiles of a router are mostly numbered together: the metadata of column batches is searched by their range, but not by an array.
WITH wanted AS (
    SELECT series_id, part FROM series WHERE component = ${router:sqlstring} AND metric = 'aries_stall_ratio'
), tiles AS (
    SELECT regexp_match(s.part, '^r([0-5])c([0-7])$') AS place, sum(t.value * t.ticks) / nullif(sum(t.ticks) FILTER (WHERE t.value IS NOT NULL), 0) AS value
    FROM wanted s
    JOIN signals_over($__timeFrom(), $__timeTo(),
                      extract(epoch FROM $__timeTo()::timestamptz - $__timeFrom()::timestamptz)::double precision / 60) t
        USING (series_id)
    WHERE t.series_id >= (SELECT min(series_id) FROM wanted) AND t.series_id <= (SELECT max(series_id) FROM wanted)
    GROUP BY s.part
)
SELECT 'r' || r AS row, max(value) FILTER (WHERE place[2] = '0') AS c0, max(value) FILTER (WHERE place[2] = '1') AS c1,
       max(value) FILTER (WHERE place[2] = '2') AS c2, max(value) FILTER (WHERE place[2] = '3') AS c3,
       max(value) FILTER (WHERE place[2] = '4') AS c4, max(value) FILTER (WHERE place[2] = '5') AS c5,
       max(value) FILTER (WHERE place[2] = '6') AS c6, max(value) FILTER (WHERE place[2] = '7') AS c7
FROM generate_series(0, 5) AS r LEFT JOIN tiles ON place[1] = r::text GROUP BY r ORDER BY r
