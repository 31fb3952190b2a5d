SELECT tailback_expire(coalesce(to_timestamp($1::float8), '-infinity'), coalesce(to_timestamp($2::float8), '-infinity'),
                       '-infinity')
