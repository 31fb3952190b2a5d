-- Number of series that match the filters of now_series.sql.
SELECT count(*) FROM series_now
WHERE ($1::text IS NULL OR metric = $1) AND ($2::text IS NULL OR state = $2) AND ($3::text IS NULL OR position($3 IN name) > 0)
