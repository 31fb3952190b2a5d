CREATE TABLE episodes (
    id            INTEGER PRIMARY KEY,
    series_id     INTEGER NOT NULL REFERENCES series,
    start_time    REAL NOT NULL,
    end_time      REAL NOT NULL,            -- latest contended tick while open
    open          INTEGER NOT NULL,         -- 1 while contention is ongoing
    peak          REAL NOT NULL,
    baseline      REAL NOT NULL,
    slowdown_s    REAL NOT NULL,
    slowdown_lo_s REAL NOT NULL,
    slowdown_hi_s REAL NOT NULL,
    completeness  REAL NOT NULL,
    profile       TEXT NOT NULL,            -- JSON list of [time, accumulated slowdown_s]
    causes        TEXT NOT NULL             -- JSON list of {cause, kind, series_or_job, share}
) STRICT;
-- Open episodes first, the latest first, as the page lists and counts at every tick.
CREATE INDEX episodes_by_start ON episodes (open, start_time);
CREATE INDEX episodes_by_series ON episodes (series_id, start_time);
CREATE INDEX episodes_by_end ON episodes (end_time);

-- Users call a job 1234_7 of an array, 1234+0 of a het job. Later runs of a requeued job are jobs of their own, with
-- .r1, .r2, … after the number.
CREATE TABLE jobs (
    job_id       TEXT PRIMARY KEY,
    user_name    TEXT NOT NULL,
    name         TEXT NOT NULL,
    start_time   REAL NOT NULL,
    end_time     REAL,                      -- null while it runs or when the end never arrived
    app          TEXT,
    label        TEXT NOT NULL DEFAULT '',  -- the name that users call it by where that is not its number
    end_presumed INTEGER NOT NULL DEFAULT 0, -- 1 when no end arrived: `end_time` is the latest possible one
    application  TEXT NOT NULL GENERATED ALWAYS AS (coalesce(nullif(app, ''), name)) STORED
) STRICT;
CREATE INDEX jobs_by_application ON jobs (application, start_time);
CREATE INDEX jobs_by_label ON jobs (label) WHERE label <> '';

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
    cause         TEXT NOT NULL,            -- self, other_job, io_on_mpi, failover_induced, server, node, unknown
    kind          TEXT NOT NULL,            -- avoidable, capacity, endpoint, unknown
    series_or_job TEXT NOT NULL,
    share         REAL NOT NULL,
    PRIMARY KEY (job_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_causes_by_aggressor ON job_causes (series_or_job);

-- What a job's own reports of progress show, each name for itself. The losses are null unless `state` is measured.
CREATE TABLE job_progress (
    job_id      TEXT NOT NULL REFERENCES jobs ON DELETE CASCADE,
    name        TEXT NOT NULL,              -- what the job counts: steps, bytes
    covered_s   REAL NOT NULL,  -- seconds of the job between its reports
    contended_s REAL NOT NULL,  -- those in contention, with pauses of up to a minute
    per_s       REAL,           -- counts a second of the mean rank without contention; null: there was none
    counters_s  REAL NOT NULL,  -- lost by the counters of links and file systems
    state       TEXT NOT NULL,              -- measured, never_contended, never_clear, counts_files, stops_for_files, too_few
    lost_s      REAL,           -- lost in all contended time of the run, by these reports
    lost_lo_s   REAL,           -- 95% interval
    lost_hi_s   REAL,
    cost        REAL,           -- the same over counters_s
    cost_lo     REAL,
    cost_hi     REAL,
    PRIMARY KEY (job_id, name)
) STRICT, WITHOUT ROWID;

-- Which series a job uses: its nodes' mounts and ports, and the routers that its nodes report.
CREATE TABLE job_series (
    job_id    TEXT NOT NULL REFERENCES jobs ON DELETE CASCADE,
    series_id INTEGER NOT NULL REFERENCES series,
    PRIMARY KEY (job_id, series_id)
) STRICT, WITHOUT ROWID;

-- A placement is null without runs to compare with.
CREATE TABLE job_factors (
    job_id        TEXT PRIMARY KEY REFERENCES jobs ON DELETE CASCADE,
    configuration TEXT NOT NULL,            -- runs are compared within one alone
    self_s        REAL NOT NULL,            -- lost to its own traffic
    self_lo_s     REAL NOT NULL,
    self_hi_s     REAL NOT NULL,
    other_s       REAL NOT NULL,            -- lost to other jobs
    other_lo_s    REAL NOT NULL,
    other_hi_s    REAL NOT NULL,
    placement     REAL,                     -- run time at this placement over that at the best known one
    placement_lo  REAL,
    placement_hi  REAL,
    beta          REAL NOT NULL,            -- seconds of run time that a second of contention costs, 0 to 1
    beta_lo       REAL NOT NULL,
    beta_hi       REAL NOT NULL,
    beta_version  INTEGER NOT NULL,         -- 0: uncalibrated
    beta_runs     INTEGER NOT NULL,
    caveat        TEXT NOT NULL             -- limits of the answer
) STRICT;

-- What finished runs of one configuration show about the loss of a run; the fit itself is the program's
-- (`detector/src/factors/learnt.rs`), since SQLite has no regression.
CREATE TABLE betas (
    configuration TEXT NOT NULL,
    version       INTEGER NOT NULL,         -- from 1; a new one with every run that changes it
    beta          REAL NOT NULL,            -- seconds of run time that a second of contention costs
    beta_lo       REAL NOT NULL,            -- 95% interval
    beta_hi       REAL NOT NULL,
    clear_s       REAL NOT NULL,            -- run time without contention
    runs          INTEGER NOT NULL,
    learnt_until  REAL NOT NULL,            -- end of the latest of these runs
    PRIMARY KEY (configuration, version)
) STRICT;
