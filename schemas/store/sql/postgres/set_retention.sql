UPDATE tier_retention SET kept_for = CASE tier
    WHEN 'raw' THEN make_interval(secs => 86400 * $1::double precision)
    WHEN '10s' THEN make_interval(secs => 86400 * $2::double precision)
    WHEN '1min' THEN make_interval(secs => 86400 * $3::double precision)
    ELSE make_interval(secs => 86400 * $4::double precision) END
