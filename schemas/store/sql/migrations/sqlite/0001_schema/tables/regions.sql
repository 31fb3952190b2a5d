-- Contended regions.
CREATE TABLE regions (
    region_id       INTEGER PRIMARY KEY,
    metric          TEXT NOT NULL,          -- of its links
    name            TEXT NOT NULL,          -- uplinks of leaf-03, group 4 to group 7, router c0-0c1s8
    start_time      REAL NOT NULL,
    end_time        REAL NOT NULL,          -- latest tick while open
    open            INTEGER NOT NULL,
    links           INTEGER NOT NULL,       -- now; of an ended one, at its end
    links_most      INTEGER NOT NULL,
    peak            REAL,                   -- the worst windowed ratio ever seen in it, in the metric's unit
    kind            TEXT NOT NULL,          -- avoidable, capacity, endpoint, unknown
    kind_confidence REAL NOT NULL,
    relief          REAL NOT NULL,          -- share by which the worst load would fall if parallel links were even
    cause           TEXT NOT NULL,          -- self, other_job, io_on_mpi, failover_induced, server, node, unknown
    confidence      REAL NOT NULL,          -- of the cause
    completeness    REAL NOT NULL
) STRICT;
CREATE INDEX regions_by_start ON regions (open, start_time);
CREATE INDEX regions_by_end ON regions (end_time);

CREATE TABLE region_steps (
    region_id    INTEGER NOT NULL REFERENCES regions ON DELETE CASCADE,
    time         REAL NOT NULL,
    change       TEXT NOT NULL,             -- began, grew, shrank, took_up, went_into, split, ended
    other        INTEGER NOT NULL,          -- the region that it came from, or that came of it; 0 for none
    links        INTEGER NOT NULL,          -- from then on
    worst_series TEXT NOT NULL,
    worst        REAL,                      -- its windowed ratio, in the metric's unit
    PRIMARY KEY (region_id, time, change, other)
) STRICT, WITHOUT ROWID;

CREATE TABLE region_series (
    region_id INTEGER NOT NULL REFERENCES regions ON DELETE CASCADE,
    series    TEXT NOT NULL,
    position  INTEGER,                      -- 0 is the worst; null after it left the region
    PRIMARY KEY (region_id, series)
) STRICT, WITHOUT ROWID;
CREATE INDEX region_series_by_series ON region_series (series);

CREATE TABLE region_causes (
    region_id     INTEGER NOT NULL REFERENCES regions ON DELETE CASCADE,
    position      INTEGER NOT NULL,         -- 0 is the largest share
    cause         TEXT NOT NULL,
    series_or_job TEXT NOT NULL,
    share         REAL NOT NULL,            -- of the load on its worst links; they sum to at most 1
    confidence    REAL NOT NULL,
    evidence      TEXT NOT NULL,            -- JSON list of words, the strongest first
    PRIMARY KEY (region_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX region_causes_by_job ON region_causes (series_or_job);

CREATE TABLE region_victims (
    region_id INTEGER NOT NULL REFERENCES regions ON DELETE CASCADE,
    job_id    TEXT NOT NULL,
    position  INTEGER NOT NULL,             -- 0 lost most, by the lower end
    lost_s    REAL NOT NULL,
    lost_lo_s REAL NOT NULL, -- 95% interval
    lost_hi_s REAL NOT NULL,
    share     REAL NOT NULL,                -- of what all victims lost
    PRIMARY KEY (region_id, job_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX region_victims_by_job ON region_victims (job_id);
