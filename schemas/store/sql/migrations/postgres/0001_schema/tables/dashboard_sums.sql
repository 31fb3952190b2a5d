-- A row for each group, file system and class of links, metric and minute of event time.
CREATE TABLE place_minutes (
    kind             text NOT NULL,         -- system, group, file system, link class
    name             text NOT NULL,
    metric           text NOT NULL,
    time             timestamptz NOT NULL,  -- start of the minute
    series           integer NOT NULL,      -- with data
    contended_series integer NOT NULL,      -- contended at some tick
    ticks            bigint NOT NULL,
    contended_ticks  bigint NOT NULL,
    value_sum        double precision,      -- sum over series of their mean readings: bytes/s of a whole file system
    value_max        double precision,      -- largest reading
    PRIMARY KEY (kind, name, metric, time)
);
CREATE INDEX place_minutes_by_time ON place_minutes (kind, time);
CREATE INDEX place_minutes_by_metric ON place_minutes (kind, metric, time); -- maps of groups show one of four metrics

-- The same by hour, for spans of days.
CREATE TABLE place_hours (LIKE place_minutes INCLUDING ALL);

-- A row for each component, metric and hour.
CREATE TABLE component_hours (
    metric          text NOT NULL,
    component       text NOT NULL,
    time            timestamptz NOT NULL,   -- start of the hour
    series          integer NOT NULL,
    ticks           bigint NOT NULL,
    contended_ticks bigint NOT NULL,
    value_sum       double precision,
    value_max       double precision,
    PRIMARY KEY (metric, component, time)
);

-- The same by minute, for seven hours: a group's switches have thousands of links.
CREATE TABLE component_minutes (
    metric          text NOT NULL,
    component       text NOT NULL,
    time            timestamptz NOT NULL,   -- start of the minute
    ticks           bigint NOT NULL,
    contended_ticks bigint NOT NULL,
    PRIMARY KEY (metric, component, time)
);
CREATE INDEX component_minutes_by_time ON component_minutes USING brin (time);

-- Bytes that the clients of a file system read and wrote: of each job, and of all clients with an empty `job_id`. By minute for the latest
-- six to seven hours, by hour before: a large machine has tens of thousands of clients. A node with two jobs counts for both.
CREATE TABLE file_system_bytes (
    time    timestamptz NOT NULL,           -- start of the minute or hour
    mount   text NOT NULL,
    job_id  text NOT NULL,
    bytes   double precision NOT NULL,
    seconds integer NOT NULL,               -- 60 or 3600
    PRIMARY KEY (time, mount, job_id)
);
CREATE INDEX file_system_bytes_by_job ON file_system_bytes (job_id);

-- Metrics of Tailback itself, minute by minute of event time.
CREATE TABLE health_minutes (
    figure text NOT NULL,                   -- lag_s, backlog_messages, dropped_rows, silent_sources, sources, database_bytes
    label  text NOT NULL,                   -- stage or reason; '' where there is one alone
    time   timestamptz NOT NULL,
    value  double precision NOT NULL,
    PRIMARY KEY (figure, label, time)
);

-- Until when minutes and hours are summed, and until when bytes of file systems contain the rows of all partitions.
CREATE TABLE roll_up_progress (
    minutes_until timestamptz,
    hours_until   timestamptz,
    bytes_until   timestamptz
);
INSERT INTO roll_up_progress VALUES (NULL, NULL, NULL);

-- Retention of each tier; null keeps it for ever. `tailback migrate` writes the configured values.
CREATE TABLE tier_retention (
    tier     text PRIMARY KEY,              -- raw, 10s, 1min, 1h
    kept_for interval
);
INSERT INTO tier_retention VALUES ('raw', '14 days'), ('10s', '60 days'), ('1min', '400 days'), ('1h', NULL);
