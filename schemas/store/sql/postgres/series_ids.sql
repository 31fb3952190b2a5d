SELECT n.place, s.series_id
FROM unnest($1::text[]) WITH ORDINALITY AS n (name, place) JOIN series s ON s.name = n.name
