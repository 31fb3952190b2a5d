-- Tables, their indexes and first rows. Tables have the names of the embedded schema; times are timestamptz.

-- Compiling a plan takes seconds where it has many chunks, and saves milliseconds: all answers are short. Only the
-- owner of the database can set it.
DO $$ BEGIN
    EXECUTE format('ALTER DATABASE %I SET jit = off', current_database());
EXCEPTION WHEN insufficient_privilege THEN
    RAISE WARNING 'jit stays on: only the owner of the database may turn it off';
END $$;

-- The catalogue of metrics, written by `tailback migrate` and `tailback run`; metrics of an earlier one stay.
CREATE TABLE metrics (
    metric    text PRIMARY KEY,             -- first word of the names of its series
    subject   text NOT NULL,                -- what is measured: InfiniBand ports
    title     text NOT NULL,                -- a few words: waits to send
    unit      text NOT NULL,                -- of a reading
    direction text NOT NULL,                -- under contention: rising, falling
    measures  text NOT NULL,                -- link: pressure on a link; progress: that of a client of a file system
    resource  text                          -- what clients share: data, metadata; null for links
);
