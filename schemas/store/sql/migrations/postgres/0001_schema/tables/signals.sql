-- Number and name of each measured series.
CREATE TABLE series (
    series_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name      text NOT NULL UNIQUE,         -- <metric>/<component>[/<part>]
    metric    text NOT NULL,                -- as in `metrics`
    component text NOT NULL,                -- router, host or client node
    part      text                          -- tile, port or mount; null for the component as a whole
);
CREATE INDEX series_by_component ON series (metric, component);

-- History of the signals; read it through the view `signals`. No unique key: each row is written once, because it
-- commits together with the position in the input, and a unique index would forbid COPY into the columnstore.
-- Wide columns first: no padding. The counters are flits and stalls of an Aries tile, words and ticks waited of an
-- InfiniBand port, for each tick that has a row of its own (contended, or every one). They are null in rows of ten
-- seconds of a quiet series, for Lustre clients, whose reading is the rate of their counter, and for routers as a whole.
CREATE TABLE signal_rows (
    time         timestamptz NOT NULL,      -- end of the tick, sampler's clock
    slowdown_s   double precision NOT NULL, -- accumulated seconds lost
    series_id    integer NOT NULL,
    value        real,                      -- reading, in the metric's unit; mean over `ticks`
    mean         real,                      -- windowed geometric mean
    baseline     real,                      -- non-contended geometric mean
    bound        real,                      -- threshold of the mean
    state        smallint NOT NULL,         -- tailback_state() gives the word
    ticks        smallint NOT NULL,         -- ticks that this row covers, the last of which is `time`
    passed_per_s real,
    waited_per_s real
);
CREATE INDEX signal_rows_by_series ON signal_rows (series_id, time);
-- The newest minutes are read all the time, and every range of pages is new once: without a summary of its own it is
-- read for any span of time until the next vacuum.
CREATE INDEX signal_rows_by_time ON signal_rows USING brin (time) WITH (autosummarize = on);

-- The first tier: ten seconds of one series, written with the signals in the same transaction. A continuous aggregate
-- of `signal_rows` would put a trigger on it, with which COPY cannot write to the columnstore.
CREATE TABLE signal_buckets (
    time            timestamptz NOT NULL,   -- start of the ten seconds
    slowdown_s      double precision NOT NULL, -- accumulated at the last tick
    series_id       integer NOT NULL,
    value           real,                   -- mean over the ticks
    value_min       real,
    value_max       real,
    mean            real,                   -- of the last tick
    baseline        real,                   -- of the last tick
    ticks           smallint NOT NULL,      -- ticks with data
    contended_ticks smallint NOT NULL
);
CREATE INDEX signal_buckets_by_series ON signal_buckets (series_id, time);
CREATE INDEX signal_buckets_by_time ON signal_buckets USING brin (time) WITH (autosummarize = on);

-- Minutes and hours are written by the detector, as the ten seconds are. An aggregate over the ten seconds reads and
-- inserts a whole minute of all series at once, for which signals wait, and puts a trigger on their table, with which
-- COPY cannot write to the columnstore.
CREATE TABLE signal_minutes (
    time            timestamptz NOT NULL,   -- start of the minute
    slowdown_s      double precision NOT NULL, -- accumulated at the last tick with data
    series_id       integer NOT NULL,
    value           real,                   -- mean over the ticks
    value_min       real,
    value_max       real,
    mean            real,                   -- mean of the tier below
    baseline        real,
    ticks           integer NOT NULL,       -- ticks with data
    contended_ticks integer NOT NULL,
    passed_per_s    real,                   -- raw counters behind the ratio, mean over the ticks
    waited_per_s    real
);
CREATE INDEX signal_minutes_by_series ON signal_minutes (series_id, time);
CREATE INDEX signal_minutes_by_time ON signal_minutes USING brin (time) WITH (autosummarize = on);

CREATE TABLE signal_hours (LIKE signal_minutes);
CREATE INDEX signal_hours_by_series ON signal_hours (series_id, time);
CREATE INDEX signal_hours_by_time ON signal_hours USING brin (time) WITH (autosummarize = on);

-- Sums of groups, file systems, classes of links and of the whole machine, written with the ten seconds that they sum,
-- in the same transaction. A commit holds a part of the series: parts of one place and time add up.
CREATE TABLE place_buckets (
    time             timestamptz NOT NULL,  -- start of the ten seconds
    value_sum        double precision,      -- sum over series of their mean readings; null without a reading
    ticks            bigint NOT NULL,       -- with data, of all series
    contended_ticks  bigint NOT NULL,
    series           integer NOT NULL,      -- with data
    contended_series integer NOT NULL,      -- contended at some tick
    value_max        real,                  -- largest reading
    kind             text NOT NULL,         -- system, group, file system, link class
    name             text NOT NULL,         -- '' for the system, and for what no group is known of
    metric           text NOT NULL
);
CREATE INDEX place_buckets_by_place ON place_buckets (kind, name, time);
CREATE INDEX place_buckets_by_time ON place_buckets USING brin (time) WITH (autosummarize = on);
