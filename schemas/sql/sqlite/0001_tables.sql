-- The embedded store. Tables and views have the names of the PostgreSQL schema.
-- Times are seconds since the epoch, UTC, with microseconds.

CREATE TABLE series (
    series_id INTEGER PRIMARY KEY,          -- dense number, from 0
    name      TEXT NOT NULL UNIQUE,         -- <metric>/<component>[/<part>]
    metric    TEXT NOT NULL,                -- aries_stall_ratio, ib_wait_ratio, lustre_write_rate
    component TEXT NOT NULL,                -- router, host or client node
    part      TEXT                          -- tile, port or mount; null for the component as a whole
) STRICT;
CREATE INDEX series_by_component ON series (metric, component);

-- History of the signals; read it through the view `signals`. The bucket, ten seconds of event time, leads
-- the key: a commit then touches the pages of the newest bucket alone instead of one page per series
-- (measured: 4 to 10 times the rows per second), and what expires is one range at the front.
CREATE TABLE signal_rows (
    bucket     INTEGER NOT NULL,            -- time / 10 s, rounded down
    series_id  INTEGER NOT NULL REFERENCES series,
    time       REAL NOT NULL,               -- end of the tick, sampler's clock
    value      REAL,                        -- reading, in the metric's unit
    mean       REAL,                        -- windowed geometric mean
    baseline   REAL,                        -- non-contended geometric mean
    bound      REAL,                        -- what the mean has to pass
    state      TEXT NOT NULL,               -- warmup, clear, contended, idle, unknown
    slowdown_s REAL NOT NULL,               -- accumulated seconds lost
    PRIMARY KEY (bucket, series_id, time)
) STRICT, WITHOUT ROWID;

-- One seek per bucket, so that `WHERE series_id = ? AND time BETWEEN ? AND ?` reads only that series' rows.
CREATE VIEW signals AS
WITH RECURSIVE buckets (bucket) AS (
    SELECT min(bucket) FROM signal_rows
    UNION ALL
    SELECT (SELECT min(r.bucket) FROM signal_rows r WHERE r.bucket > b.bucket)
    FROM buckets b WHERE b.bucket IS NOT NULL
)
SELECT r.series_id, r.time, r.value, r.mean, r.baseline, r.bound, r.state, r.slowdown_s
FROM buckets b CROSS JOIN signal_rows r ON r.bucket = b.bucket;

-- The view may be written like the table it stands for; the store writes `signal_rows` itself, which is faster.
CREATE TRIGGER signals_insert INSTEAD OF INSERT ON signals BEGIN
    INSERT OR REPLACE INTO signal_rows
    VALUES (CAST(NEW.time / 10.0 AS INTEGER), NEW.series_id, NEW.time,
            NEW.value, NEW.mean, NEW.baseline, NEW.bound, NEW.state, NEW.slowdown_s);
END;
CREATE TRIGGER signals_delete INSTEAD OF DELETE ON signals BEGIN
    DELETE FROM signal_rows
    WHERE bucket = CAST(OLD.time / 10.0 AS INTEGER) AND series_id = OLD.series_id AND time = OLD.time;
END;

-- The latest signal of each series, kept beside the history so that "now" is one small scan.
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

CREATE TABLE episodes (
    id            INTEGER PRIMARY KEY,
    series_id     INTEGER NOT NULL REFERENCES series,
    start_time    REAL NOT NULL,
    end_time      REAL NOT NULL,            -- latest contended tick while open
    open          INTEGER NOT NULL,         -- 1 while contention goes on
    peak          REAL NOT NULL,
    baseline      REAL NOT NULL,
    slowdown_s    REAL NOT NULL,
    slowdown_lo_s REAL NOT NULL,
    slowdown_hi_s REAL NOT NULL,
    completeness  REAL NOT NULL,
    profile       TEXT NOT NULL,            -- JSON list of [time, accumulated slowdown_s]
    causes        TEXT NOT NULL             -- JSON list of {cause, kind, series_or_job, share}
) STRICT;
-- Open episodes first, the latest first: what the page lists and counts at every tick.
CREATE INDEX episodes_by_start ON episodes (open, start_time);
CREATE INDEX episodes_by_series ON episodes (series_id, start_time);
CREATE INDEX episodes_by_end ON episodes (end_time);

CREATE TABLE jobs (
    job_id     TEXT PRIMARY KEY,
    user_name  TEXT NOT NULL,
    name       TEXT NOT NULL,
    start_time REAL NOT NULL,
    end_time   REAL,                        -- null while it runs or when the end never arrived
    app        TEXT
) STRICT;

CREATE TABLE job_nodes (
    job_id TEXT NOT NULL REFERENCES jobs ON DELETE CASCADE,
    node   TEXT NOT NULL,
    PRIMARY KEY (job_id, node)
) STRICT, WITHOUT ROWID;

CREATE TABLE job_results (
    job_id        TEXT PRIMARY KEY REFERENCES jobs ON DELETE CASCADE,
    contended_s   REAL NOT NULL,
    slowdown_s    REAL NOT NULL,
    slowdown_lo_s REAL NOT NULL,
    slowdown_hi_s REAL NOT NULL,
    completeness  REAL NOT NULL,
    judged        REAL NOT NULL DEFAULT 1 -- share of its series-seconds that had a quiet baseline
) STRICT;

CREATE TABLE job_causes (
    job_id        TEXT NOT NULL REFERENCES jobs ON DELETE CASCADE,
    position      INTEGER NOT NULL,         -- 0 is the largest share
    cause         TEXT NOT NULL,            -- self, other_job, io_on_mpi, failover_induced, server, unknown
    kind          TEXT NOT NULL,            -- avoidable, capacity, endpoint, unknown
    series_or_job TEXT NOT NULL,
    share         REAL NOT NULL,
    PRIMARY KEY (job_id, position)
) STRICT, WITHOUT ROWID;

-- Which series a job uses: its nodes' mounts and ports, and the routers that its nodes report.
CREATE TABLE job_series (
    job_id    TEXT NOT NULL REFERENCES jobs ON DELETE CASCADE,
    series_id INTEGER NOT NULL REFERENCES series,
    PRIMARY KEY (job_id, series_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE dropped_rows (
    reason TEXT PRIMARY KEY,
    count  INTEGER NOT NULL
) STRICT;

-- Who reports, and when it was last heard: silence is seen here.
CREATE TABLE producers (
    producer  TEXT NOT NULL,
    schema    TEXT NOT NULL,
    component TEXT NOT NULL,
    last_time REAL NOT NULL,
    rows      INTEGER NOT NULL,
    PRIMARY KEY (producer, schema, component)
) STRICT, WITHOUT ROWID;

-- What a restart needs: the model's state and the position in the input, one row each.
CREATE TABLE state (
    name    TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    content BLOB NOT NULL
) STRICT;

CREATE VIEW clock AS SELECT max(time) AS now FROM series_latest;

-- A series that was not heard for 5 s is unknown, whatever it said last.
CREATE VIEW series_now AS
SELECT s.series_id, s.name, s.metric, s.component, s.part, l.time, l.value, l.mean, l.baseline, l.bound,
       CASE WHEN l.time < c.now - 5.0 THEN 'unknown' ELSE l.state END AS state, l.slowdown_s
FROM series_latest l JOIN series s USING (series_id) CROSS JOIN clock c;

CREATE VIEW series_episodes AS
SELECT e.id, s.name AS series, s.metric, s.component, s.part, e.start_time, e.end_time, e.open,
       e.end_time - e.start_time AS duration_s, e.peak, e.baseline,
       e.slowdown_s, e.slowdown_lo_s, e.slowdown_hi_s, e.completeness, e.causes
FROM episodes e JOIN series s USING (series_id);

CREATE VIEW job_slowdown AS
SELECT j.job_id, j.user_name, j.name, j.start_time, j.end_time,
       r.contended_s, r.slowdown_s, r.slowdown_lo_s, r.slowdown_hi_s, r.completeness
FROM jobs j LEFT JOIN job_results r USING (job_id);
