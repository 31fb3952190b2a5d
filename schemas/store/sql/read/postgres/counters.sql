-- Counters of the series $1 between $2 and $3, as means of steps of $4 seconds.
SELECT extract(epoch FROM date_bin(make_interval(secs => $4::double precision), c.at_time, 'epoch'))::double precision,
       sum(c.passed_per_s * c.ticks) / sum(c.ticks), sum(c.waited_per_s * c.ticks) / sum(c.ticks)
FROM counters_over($1::text, to_timestamp($2::double precision), to_timestamp($3::double precision), $4) c
GROUP BY 1 ORDER BY 1
