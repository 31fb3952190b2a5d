SELECT coalesce(extract(epoch FROM now() - (SELECT now FROM clock)), 1e9)::double precision AS value
