-- Where there is no time, nothing goes.
SELECT tailback_expire(to_timestamp($1::float8), to_timestamp($2::float8), to_timestamp($3::float8), to_timestamp($4::float8),
                       to_timestamp($5::float8))
