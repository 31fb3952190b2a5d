-- How often all states were begun anew (`tailback migrate --forget-positions`). Episodes and regions are numbered by states:
-- each generation has numbers of its own, so that what is kept of the ones before is not written over.
CREATE TABLE state_generation (
    generation bigint NOT NULL,
    is_one     boolean PRIMARY KEY DEFAULT true CHECK (is_one)
);
INSERT INTO state_generation (generation) VALUES (0);
GRANT SELECT ON state_generation TO tailback_writer, tailback_reader;

-- A clock that was ahead may have taken the sums with it, whose time was then never summed.
UPDATE roll_up_progress SET minutes_until = date_bin('1 minute', now(), 'epoch') WHERE minutes_until > now();
UPDATE roll_up_progress SET hours_until = date_bin('1 hour', now(), 'epoch') WHERE hours_until > now();
