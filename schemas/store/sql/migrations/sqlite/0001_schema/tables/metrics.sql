-- The embedded store. Tables and views have the names of the PostgreSQL schema.
-- Times are seconds since the epoch, UTC, with microseconds.

-- The catalogue of metrics. A program that opens the file for writing stores its own; metrics of an earlier one stay.
CREATE TABLE metrics (
    metric    TEXT PRIMARY KEY,             -- first word of the names of its series
    subject   TEXT NOT NULL,                -- what is measured: InfiniBand ports
    title     TEXT NOT NULL,                -- a few words: waits to send
    unit      TEXT NOT NULL,                -- of a reading
    direction TEXT NOT NULL,                -- under contention: rising, falling
    measures  TEXT NOT NULL,                -- link: pressure on a link; progress: that of a client of a file system
    resource  TEXT                          -- what clients share: data, metadata; null for links
) STRICT;
