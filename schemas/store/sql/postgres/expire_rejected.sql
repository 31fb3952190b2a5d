DELETE FROM rejected_messages WHERE time < to_timestamp($1::float8)
