SELECT tailback_set_policies(make_interval(secs => 86400 * $1::double precision),
                             make_interval(secs => 86400 * $2::double precision),
                             make_interval(secs => 86400 * $3::double precision),
                             make_interval(secs => 86400 * $4::double precision),
                             make_interval(secs => 86400 * $5::double precision))
