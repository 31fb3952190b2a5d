SELECT extract(epoch FROM now)::double precision FROM clock
