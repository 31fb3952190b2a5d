INSERT INTO region_steps (region_id, time, change, other, links, worst_series, worst)
SELECT DISTINCT ON (1, 2, 3, 4) s.region_id, to_timestamp(s.time_s), s.change, s.other, s.links, s.worst_series,
       nullif(s.worst, 'NaN')
FROM unnest($1::bigint[], $2::double precision[], $3::text[], $4::bigint[], $5::integer[], $6::text[],
            $7::double precision[])
    WITH ORDINALITY AS s (region_id, time_s, change, other, links, worst_series, worst, place)
ORDER BY 1, 2, 3, 4, s.place DESC
ON CONFLICT (region_id, time, change, other) DO UPDATE SET
    links = excluded.links, worst_series = excluded.worst_series, worst = excluded.worst
