SELECT nextval('series_series_id_seq')::integer FROM generate_series(1, $1::bigint)
