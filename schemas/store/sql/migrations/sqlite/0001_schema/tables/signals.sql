CREATE TABLE series (
    series_id INTEGER PRIMARY KEY,          -- dense number, from 0
    name      TEXT NOT NULL UNIQUE,         -- <metric>/<component>[/<part>]
    metric    TEXT NOT NULL,                -- as in `metrics`
    component TEXT NOT NULL,                -- router, host or client node
    part      TEXT                          -- tile, port or mount; null for the component as a whole
) STRICT;
CREATE INDEX series_by_component ON series (metric, component);

-- History of the signals; read it through the view `signals`. The bucket, ten seconds of event time, leads
-- the key: a commit then touches the pages of the newest bucket alone instead of one page per series
-- (measured: 4 to 10 times the rows per second), and expired rows are one range at the front.
-- Raw counters are null for Lustre clients, whose reading is the rate of their counter, and for routers as a whole.
CREATE TABLE signal_rows (
    bucket     INTEGER NOT NULL,            -- time / 10 s, rounded down
    series_id  INTEGER NOT NULL REFERENCES series,
    time       REAL NOT NULL,               -- end of the tick, sampler's clock
    value      REAL,                        -- reading, in the metric's unit
    mean       REAL,                        -- windowed geometric mean
    baseline   REAL,                        -- non-contended geometric mean
    bound      REAL,                        -- threshold of the mean
    state      TEXT NOT NULL,               -- warmup, clear, contended, idle, unknown
    slowdown_s REAL NOT NULL,               -- accumulated seconds lost
    passed_per_s REAL,                      -- flits of an Aries tile, words of an InfiniBand port
    waited_per_s REAL,                      -- their stalls, ticks waited
    PRIMARY KEY (bucket, series_id, time)
) STRICT, WITHOUT ROWID;

-- The latest signal of each series, stored apart from the history so that "now" is one small scan.
CREATE TABLE series_latest (
    series_id  INTEGER PRIMARY KEY REFERENCES series,
    time       REAL NOT NULL,
    value      REAL,
    mean       REAL,
    baseline   REAL,
    bound      REAL,
    state      TEXT NOT NULL,
    slowdown_s REAL NOT NULL
) STRICT;
