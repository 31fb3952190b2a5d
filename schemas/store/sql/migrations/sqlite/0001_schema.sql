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
    end_presumed INTEGER NOT NULL DEFAULT 0 -- 1 when no end arrived: `end_time` is the latest possible one
) STRICT;
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
    cause           TEXT NOT NULL,          -- self, other_job, io_on_mpi, failover_induced, server, unknown
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
    position  INTEGER NOT NULL,             -- 0 lost most
    lost_s    REAL NOT NULL,
    share     REAL NOT NULL,                -- of what all victims lost
    PRIMARY KEY (region_id, job_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX region_victims_by_job ON region_victims (job_id);

-- The switch of a node and the group or pod of that switch, '' where there is none.
CREATE TABLE node_switches (
    node       TEXT NOT NULL,
    switch     TEXT NOT NULL,
    group_name TEXT NOT NULL,
    PRIMARY KEY (node, switch)
) STRICT, WITHOUT ROWID;

-- The link that a series measures, from the topology. Of several groups of parallel links that a link is in, the largest.
CREATE TABLE link_places (
    series      TEXT PRIMARY KEY,
    class       TEXT NOT NULL,              -- host, leaf, spine, local, global, green, black, blue, other
    from_name   TEXT NOT NULL,              -- transmitting end
    to_name     TEXT NOT NULL,
    bundle      TEXT NOT NULL,              -- parallel links among which routing may choose; '' for none
    bytes_per_s REAL                        -- capacity; null where the topology has none
) STRICT, WITHOUT ROWID;
CREATE INDEX link_places_by_bundle ON link_places (bundle) WHERE bundle <> '';

CREATE TABLE alert_incidents (
    incident      TEXT PRIMARY KEY,             -- 16 hexadecimal digits
    rule          TEXT NOT NULL,
    severity      TEXT NOT NULL,                -- info, warning, critical
    subject       TEXT NOT NULL,                -- a region, a job, a mount, a series, a source
    state         TEXT NOT NULL,                -- firing, resolved
    started_s     REAL NOT NULL,    -- when contention or silence began
    fired_s       REAL NOT NULL,    -- when the rule's least duration was over
    resolved_s    REAL,
    valid_until_s REAL NOT NULL,    -- of its advice
    sequence      INTEGER NOT NULL,              -- of its latest notice
    action        TEXT NOT NULL,                -- what a scheduler may do: a word of a closed list
    summary       TEXT NOT NULL,
    notice        TEXT NOT NULL                 -- the latest one: schemas/alerts/notice.schema.json
) STRICT;
CREATE INDEX alert_incidents_by_state ON alert_incidents (state, started_s);

CREATE TABLE alert_outbox (
    key            TEXT NOT NULL,               -- idempotency key: <incident>.<sequence>
    receiver       TEXT NOT NULL,
    incident       TEXT NOT NULL,
    sequence       INTEGER NOT NULL,
    kind           TEXT NOT NULL,               -- firing, renewed, resolved
    notice         TEXT NOT NULL,
    state          TEXT NOT NULL DEFAULT 'waiting', -- waiting, repeating, delivered, dead, superseded, silenced
    attempts       INTEGER NOT NULL DEFAULT 0,
    next_try_s     REAL NOT NULL DEFAULT 0,
    leased_until_s REAL NOT NULL DEFAULT 0,
    leased_by      TEXT NOT NULL DEFAULT '',
    held           INTEGER NOT NULL DEFAULT 0,  -- 1 when a silence held it back at the latest check
    first_try_s    REAL,
    delivered_s    REAL,
    last_error     TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (key, receiver)
) STRICT;
CREATE INDEX alert_outbox_by_incident ON alert_outbox (receiver, incident, sequence);
CREATE INDEX alert_outbox_due ON alert_outbox (receiver, next_try_s) WHERE state IN ('waiting', 'repeating');

CREATE TABLE alert_silences (
    id       TEXT PRIMARY KEY,
    matchers TEXT NOT NULL,                     -- JSON object: label to text, `*` at its end for anything
    from_s   REAL NOT NULL,
    until_s  REAL NOT NULL,
    author   TEXT NOT NULL,
    comment  TEXT NOT NULL
) STRICT;

-- Changes of a receiver in Slurm, so that they are restored.
CREATE TABLE alert_marks (
    receiver TEXT NOT NULL,
    target   TEXT NOT NULL,                     -- job, node
    name     TEXT NOT NULL,
    incident TEXT NOT NULL,
    value    TEXT NOT NULL,                     -- what was written
    before   TEXT NOT NULL,                     -- the earlier value
    until_s  REAL NOT NULL,         -- when it is restored
    PRIMARY KEY (receiver, target, name)
) STRICT;

-- Sources and their latest row: silence is detected here. A node may have several sources of one schema, such as two file
-- systems or two ports: each is known by its part.
CREATE TABLE producers (
    producer  TEXT NOT NULL,
    schema    TEXT NOT NULL,
    component TEXT NOT NULL,
    part      TEXT NOT NULL,                -- mount or port; '' for rows about several at once
    last_time REAL NOT NULL,
    rows      INTEGER NOT NULL,
    PRIMARY KEY (producer, schema, component, part)
) STRICT, WITHOUT ROWID;

-- A row for each stretch of more than two and a half usual intervals without a row of a source.
CREATE TABLE silences (
    producer   TEXT NOT NULL,
    schema     TEXT NOT NULL,
    component  TEXT NOT NULL,
    part       TEXT NOT NULL,               -- as in `producers`
    from_time  REAL NOT NULL,               -- its last row before
    until_time REAL,                        -- its next row; null while it is silent
    PRIMARY KEY (producer, schema, component, part, from_time)
) STRICT, WITHOUT ROWID;

CREATE TABLE dropped_rows (
    reason TEXT PRIMARY KEY,
    count  INTEGER NOT NULL
) STRICT;

-- What a restart needs: the model's state and the position in the input, one row each.
CREATE TABLE state (
    name    TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    content BLOB NOT NULL
) STRICT;

-- One seek per bucket, so that `WHERE series_id = ? AND time BETWEEN ? AND ?` reads only the rows of that series.
CREATE VIEW signals AS
WITH RECURSIVE buckets (bucket) AS (
    SELECT min(bucket) FROM signal_rows
    UNION ALL
    SELECT (SELECT min(r.bucket) FROM signal_rows r WHERE r.bucket > b.bucket)
    FROM buckets b WHERE b.bucket IS NOT NULL
)
SELECT r.series_id, r.time, r.value, r.mean, r.baseline, r.bound, r.state, r.slowdown_s, r.passed_per_s, r.waited_per_s
FROM buckets b CROSS JOIN signal_rows r ON r.bucket = b.bucket;

-- The view may be written like the table under it; the store writes `signal_rows` itself, which is faster.
CREATE TRIGGER signals_insert INSTEAD OF INSERT ON signals BEGIN
    INSERT OR REPLACE INTO signal_rows
    VALUES (CAST(NEW.time / 10.0 AS INTEGER), NEW.series_id, NEW.time, NEW.value, NEW.mean, NEW.baseline, NEW.bound, NEW.state,
            NEW.slowdown_s, NEW.passed_per_s, NEW.waited_per_s);
END;
CREATE TRIGGER signals_delete INSTEAD OF DELETE ON signals BEGIN
    DELETE FROM signal_rows
    WHERE bucket = CAST(OLD.time / 10.0 AS INTEGER) AND series_id = OLD.series_id AND time = OLD.time;
END;

CREATE VIEW clock AS SELECT max(time) AS now FROM series_latest;

-- A series without a row for 5 s is unknown, whatever its last state.
CREATE VIEW series_now AS
SELECT s.series_id, s.name, s.metric, s.component, s.part, l.time, l.value, l.mean, l.baseline, l.bound,
       CASE WHEN l.time < c.now - 5.0 THEN 'unknown' ELSE l.state END AS state, l.slowdown_s
FROM series_latest l JOIN series s USING (series_id) CROSS JOIN clock c;

CREATE VIEW series_episodes AS
SELECT e.id, s.name AS series, s.metric, s.component, s.part, e.start_time, e.end_time, e.open,
       e.end_time - e.start_time AS duration_s, e.peak, e.baseline,
       e.slowdown_s, e.slowdown_lo_s, e.slowdown_hi_s, e.completeness, e.causes
FROM episodes e JOIN series s USING (series_id);

CREATE VIEW sources AS
SELECT p.producer, p.schema, p.component, p.last_time,
       (SELECT max(s.from_time) FROM silences s
        WHERE (s.producer, s.schema, s.component, s.part) = (p.producer, p.schema, p.component, p.part)
          AND s.until_time IS NULL) AS silent_since,
       p.part
FROM producers p;

-- Answers under the names that they have in PostgreSQL; SQLite has no functions, so the job is a column here:
-- SELECT * FROM job_post_mortem WHERE job_id = '1234'.
CREATE VIEW job_runs AS
SELECT j.job_id, j.start_time, coalesce(j.end_time, max(coalesce((SELECT now FROM clock), 0), j.start_time)) AS until_time
FROM jobs j;

CREATE VIEW job_slowdown AS
SELECT u.job_id, u.user_name, u.name, u.start_time, u.end_time,
       r.contended_s, r.slowdown_s, r.slowdown_lo_s, r.slowdown_hi_s, r.completeness,
       u.label, u.end_presumed, u.until_time - u.start_time AS run_s,
       100 * r.slowdown_s / nullif(u.until_time - u.start_time, 0) AS slowdown_percent,
       f.configuration, f.self_s, f.other_s, f.placement, f.beta, f.caveat,
       (SELECT count(*) FROM job_nodes n WHERE n.job_id = u.job_id) AS nodes,
       (SELECT count(*) FROM region_victims v WHERE v.job_id = u.job_id) AS regions,
       r.judged
FROM (SELECT j.*, coalesce(j.end_time, max(coalesce((SELECT now FROM clock), 0), j.start_time)) AS until_time FROM jobs j) u
LEFT JOIN job_results r USING (job_id) LEFT JOIN job_factors f USING (job_id);

-- The name of an Aries router contains its group: two cabinets of a row. CAST reads the number that a text begins with.
CREATE VIEW node_places AS
SELECT node, switch, nullif(group_name, '') AS group_name FROM node_switches
UNION
SELECT c.producer, c.component, printf('c%d-%d..c%d-%d', c.x - c.x % 2, c.y, c.x - c.x % 2 + 1, c.y)
FROM (SELECT p.producer, p.component, CAST(substr(p.component, 2) AS INTEGER) AS x,
             CAST(substr(p.component, instr(p.component, '-') + 1) AS INTEGER) AS y
      FROM producers p
      WHERE p.component <> p.producer AND p.component GLOB 'c[0-9]*-[0-9]*c[0-9]*s[0-9]*') c
WHERE NOT EXISTS (SELECT 1 FROM node_switches n WHERE n.node = c.producer);

-- Episodes of a job's series during its run, and the part of their loss within it: where an episode crosses an edge of
-- the run, by linear interpolation of its profile.
CREATE VIEW job_episodes AS
SELECT w.job_id, w.id, w.series_id, w.from_time, w.until_time, w.open, w.peak, w.baseline,
       w.part * w.slowdown_s AS lost_s, w.part * w.slowdown_lo_s AS lost_lo_s, w.part * w.slowdown_hi_s AS lost_hi_s,
       w.completeness
FROM (
    SELECT r.job_id, e.*, max(e.start_time, r.start_time) AS from_time, min(e.end_time, r.until_time) AS until_time,
           CASE WHEN e.start_time >= r.start_time AND e.end_time <= r.until_time THEN 1.0
                WHEN e.slowdown_s <= 0 THEN 0.0
                ELSE (coalesce((SELECT p.lost FROM (
                          SELECT q.time_s,
                                 lag(q.lost_s, 1, 0.0) OVER w1 + (q.lost_s - lag(q.lost_s, 1, 0.0) OVER w1)
                                 * max(min((r.until_time - lag(q.time_s, 1, e.start_time) OVER w1)
                                       / max(q.time_s - lag(q.time_s, 1, e.start_time) OVER w1, 1e-9), 1.0), 0.0) AS lost
                          FROM (SELECT json_extract(value, '$[0]') AS time_s, json_extract(value, '$[1]') AS lost_s
                                FROM json_each(e.profile)) q
                          WINDOW w1 AS (ORDER BY q.time_s)
                      ) p WHERE p.time_s >= r.until_time ORDER BY p.time_s LIMIT 1), e.slowdown_s)
                      - coalesce((SELECT p.lost FROM (
                          SELECT q.time_s,
                                 lag(q.lost_s, 1, 0.0) OVER w1 + (q.lost_s - lag(q.lost_s, 1, 0.0) OVER w1)
                                 * max(min((r.start_time - lag(q.time_s, 1, e.start_time) OVER w1)
                                       / max(q.time_s - lag(q.time_s, 1, e.start_time) OVER w1, 1e-9), 1.0), 0.0) AS lost
                          FROM (SELECT json_extract(value, '$[0]') AS time_s, json_extract(value, '$[1]') AS lost_s
                                FROM json_each(e.profile)) q
                          WINDOW w1 AS (ORDER BY q.time_s)
                      ) p WHERE p.time_s >= r.start_time ORDER BY p.time_s LIMIT 1), e.slowdown_s)) / e.slowdown_s END AS part
    FROM job_runs r JOIN job_series js USING (job_id) JOIN episodes e USING (series_id)
    WHERE e.start_time < r.until_time AND e.end_time > r.start_time
) w;

-- One row a fact, as in PostgreSQL; every resource has its row.
CREATE VIEW job_post_mortem AS
SELECT f.job_id, f.fact, f.resource, f.from_time, f.until_time, f.lost_s, f.lost_lo_s, f.lost_hi_s,
       100 * f.lost_s / nullif(r.until_time - r.start_time, 0) AS percent_of_run, f.share, f.cause, f.kind, f.who,
       f.confidence, f.completeness, f.note
FROM (
    SELECT s.job_id, 1 AS part, 'job' AS fact, s.nodes || ' nodes' AS resource, s.start_time AS from_time,
           s.start_time + s.run_s AS until_time, s.slowdown_s AS lost_s, s.slowdown_lo_s AS lost_lo_s,
           s.slowdown_hi_s AS lost_hi_s, NULL AS share, NULL AS cause, NULL AS kind, s.user_name AS who, NULL AS confidence,
           s.completeness,
           trim(s.name || coalesce('; configuration ' || s.configuration, '')
                || CASE WHEN s.end_time IS NULL THEN '; no end is known: it still runs, or its end never arrived'
                        WHEN s.end_presumed THEN '; end not reported' ELSE '' END
                || CASE WHEN coalesce(s.completeness, 0) = 0
                        THEN '; nothing was measured: whether it lost time is not known'
                        WHEN s.completeness - s.judged > 0.005
                        THEN printf('; not judged: %.0f%% of its time, %s', 100 * (s.completeness - s.judged),
                                    iif((s.completeness - s.judged) * s.run_s >= 60, 'in contention since it started',
                                        'no quiet baseline yet')) ELSE '' END
                || CASE WHEN coalesce(s.caveat, '') <> '' THEN '; ' || s.caveat ELSE '' END, '; ') AS note
    FROM job_slowdown s
    UNION ALL
    SELECT f.job_id, 2, 'factor', 'self', s.start_time, s.start_time + s.run_s, f.self_s, f.self_lo_s, f.self_hi_s, NULL, 'self',
           NULL, NULL, NULL, s.completeness, 'lost to its own traffic'
    FROM job_factors f JOIN job_slowdown s USING (job_id)
    UNION ALL
    SELECT f.job_id, 2, 'factor', 'other jobs', s.start_time, s.start_time + s.run_s, f.other_s, f.other_lo_s, f.other_hi_s, NULL,
           'other_job', NULL, NULL, NULL, s.completeness, 'lost to others'
    FROM job_factors f JOIN job_slowdown s USING (job_id)
    UNION ALL
    SELECT f.job_id, 2, 'factor', 'placement', s.start_time, s.start_time + s.run_s, s.run_s * (1 - 1 / nullif(f.placement, 0)),
           s.run_s * (1 - 1 / nullif(f.placement_lo, 0)), s.run_s * (1 - 1 / nullif(f.placement_hi, 0)), NULL, NULL, NULL,
           NULL, NULL, s.completeness,
           printf('run time is %.3f [%.3f, %.3f] times that at the best known placement', f.placement, f.placement_lo,
                  f.placement_hi)
    FROM job_factors f JOIN job_slowdown s USING (job_id) WHERE f.placement IS NOT NULL
    UNION ALL
    SELECT f.job_id, 2, 'factor', 'beta', s.start_time, s.start_time + s.run_s, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
           s.completeness,
           printf('a contended second costs %.3f s [%.3f, %.3f] of run time, learned from %d runs', f.beta, f.beta_lo,
                  f.beta_hi, f.beta_runs)
    FROM job_factors f JOIN job_slowdown s USING (job_id)
    UNION ALL
    SELECT c.job_id, 3, 'cause', NULL, s.start_time, s.start_time + s.run_s, c.share * s.slowdown_s, c.share * s.slowdown_lo_s,
           c.share * s.slowdown_hi_s, c.share, c.cause, c.kind, c.series_or_job, NULL, s.completeness, NULL
    FROM job_causes c JOIN job_slowdown s USING (job_id)
    UNION ALL
    SELECT v.job_id, 4, 'region', r.name, max(r.start_time, j.start_time), min(r.end_time, j.until_time), v.lost_s, NULL, NULL,
           v.share, r.cause, r.kind, c.series_or_job, r.confidence, r.completeness,
           printf('region %d: %d links at most, peak %.3f%s', r.region_id, r.links_most, r.peak,
                  iif(r.open, ', ongoing', ''))
    FROM region_victims v JOIN regions r USING (region_id) JOIN job_runs j USING (job_id)
    LEFT JOIN region_causes c ON c.region_id = r.region_id AND c.position = 0
    UNION ALL
    SELECT j.job_id, 5, 'load', r.name, max(r.start_time, j.start_time), min(r.end_time, j.until_time), NULL, NULL, NULL,
           c.share, c.cause, r.kind, j.job_id, c.confidence, r.completeness,
           printf('region %d: the job makes a part of its load (%s)', r.region_id,
                  (SELECT group_concat(e.value, ', ') FROM json_each(c.evidence) e))
    FROM region_causes c JOIN job_runs j ON j.job_id = c.series_or_job JOIN regions r USING (region_id)
    WHERE r.start_time < j.until_time AND r.end_time > j.start_time
    UNION ALL
    SELECT e.job_id, 6, 'resource', s.name, min(e.from_time), max(e.until_time), sum(e.lost_s), sum(e.lost_lo_s),
           sum(e.lost_hi_s), NULL, NULL, NULL, NULL, NULL, avg(e.completeness),
           printf('%d episodes, contended %.1f s', count(*), sum(e.until_time - e.from_time))
    FROM job_episodes e JOIN series s USING (series_id) GROUP BY e.job_id, e.series_id
) f JOIN job_runs r USING (job_id)
ORDER BY f.part, f.lost_s IS NULL, f.lost_s DESC, f.share IS NULL, f.share DESC, f.resource;

-- Jobs that ran at the same time and shared a switch, a group, a file system or a region; a row for each way of sharing.
CREATE VIEW job_neighbours AS
WITH things AS (
    SELECT n.job_id, 'switch' AS shared, p.switch AS what FROM job_nodes n JOIN node_places p USING (node)
    UNION
    SELECT n.job_id, 'group', p.group_name FROM job_nodes n JOIN node_places p USING (node) WHERE p.group_name IS NOT NULL
    UNION
    SELECT js.job_id, 'file system', s.part FROM job_series js JOIN series s USING (series_id)
    WHERE s.metric = 'lustre_write_rate' AND s.part IS NOT NULL
    UNION
    SELECT v.job_id, 'region', r.name FROM region_victims v JOIN regions r USING (region_id)
    UNION
    SELECT c.series_or_job, 'region', r.name FROM region_causes c JOIN regions r USING (region_id)
)
SELECT a.job_id AS of_job, b.job_id, j.user_name, j.name, max(a.start_time, b.start_time) AS from_time,
       min(a.until_time, b.until_time) AS until_time,
       min(a.until_time, b.until_time) - max(a.start_time, b.start_time) AS overlap_s, mine.shared, count(*) AS count,
       group_concat(mine.what, ', ') AS what
FROM job_runs a JOIN job_runs b ON b.job_id <> a.job_id AND b.start_time < a.until_time AND b.until_time > a.start_time
JOIN things mine ON mine.job_id = a.job_id
JOIN things theirs ON theirs.job_id = b.job_id AND theirs.shared = mine.shared AND theirs.what = mine.what
JOIN jobs j ON j.job_id = b.job_id
GROUP BY a.job_id, b.job_id, mine.shared
ORDER BY overlap_s DESC, b.job_id, mine.shared;

-- Timeline of each region.
CREATE VIEW region_history AS
SELECT s.region_id, s.time AS at_time, s.change, nullif(s.other, 0) AS other, o.name AS other_name, s.links, s.worst_series,
       s.worst
FROM region_steps s LEFT JOIN regions o ON o.region_id = s.other
ORDER BY s.region_id, s.time, s.change, s.other;

-- Series by seconds lost in all that the store contains; `queries/worst_links.sql` takes a span of time.
CREATE VIEW worst_links AS
SELECT row_number() OVER (ORDER BY e.lost_s DESC, e.contended_s DESC, s.name) AS rank, s.name AS series, s.metric, e.lost_s,
       e.lost_lo_s, e.lost_hi_s, e.contended_s, e.episodes, e.peak, e.completeness,
       (SELECT group_concat(DISTINCT g.name) FROM region_series m JOIN regions g USING (region_id)
        WHERE m.series = s.name) AS regions
FROM (SELECT series_id, sum(slowdown_s) AS lost_s, sum(slowdown_lo_s) AS lost_lo_s, sum(slowdown_hi_s) AS lost_hi_s,
             sum(end_time - start_time) AS contended_s, count(*) AS episodes, max(peak) AS peak,
             avg(completeness) AS completeness
      FROM episodes GROUP BY series_id) e JOIN series s USING (series_id)
ORDER BY rank;

-- Two runs side by side: WHERE job_a = ? AND job_b = ?.
CREATE VIEW compare_jobs AS
SELECT c.job_a, c.job_b, c.item, c.unit, c.value_a, c.value_b, iif(c.part = 1, NULL, c.value_a - c.value_b) AS difference, c.note
FROM (
    SELECT a.job_id AS job_a, b.job_id AS job_b, 1 AS part, 'configuration' AS item, '' AS unit,
           a.configuration AS value_a, b.configuration AS value_b,
           CASE WHEN a.configuration IS NULL OR b.configuration IS NULL
                THEN 'not known of both: whether the runs can be compared is not known'
                WHEN a.configuration <> b.configuration
                THEN 'configurations differ: a difference in run time is not contention' END AS note
    FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 2, 'nodes', '', a.nodes, b.nodes,
           (SELECT count(*) FROM job_nodes n JOIN job_nodes m USING (node)
            WHERE n.job_id = a.job_id AND m.job_id = b.job_id) || ' nodes in common'
    FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 3, 'run', 's', a.run_s, b.run_s,
           iif(a.end_time IS NULL OR b.end_time IS NULL, 'no end of both is known', NULL)
    FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 4, 'lost', 's', a.slowdown_s, b.slowdown_s,
           iif(a.slowdown_lo_s <= b.slowdown_hi_s AND b.slowdown_lo_s <= a.slowdown_hi_s,
               'the intervals overlap: no difference is certain', NULL)
    FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 5, 'lost of the run', '%', a.slowdown_percent, b.slowdown_percent, NULL
    FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 6, 'contended', 's', a.contended_s, b.contended_s, NULL
    FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 7, 'run without the loss', 's', a.run_s - a.slowdown_s, b.run_s - b.slowdown_s, NULL
    FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 8, 'completeness', '', a.completeness, b.completeness,
           iif(coalesce(min(a.completeness, b.completeness), 0) < 0.9,
               'a tenth or more of the data is missing: losses may be larger than reported', NULL)
    FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 9, 'factor self', 's', a.self_s, b.self_s, NULL FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 10, 'factor other jobs', 's', a.other_s, b.other_s, NULL
    FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 11, 'factor placement', '', a.placement, b.placement, NULL
    FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 12, 'beta', '', a.beta, b.beta, NULL FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 13, 'regions', '', a.regions, b.regions, NULL FROM job_slowdown a CROSS JOIN job_slowdown b
    UNION ALL
    SELECT a.job_id, b.job_id, 14, 'cause ' || w.cause, 's',
           (SELECT sum(c.share) FROM job_causes c WHERE c.job_id = a.job_id AND c.cause = w.cause) * a.slowdown_s,
           (SELECT sum(c.share) FROM job_causes c WHERE c.job_id = b.job_id AND c.cause = w.cause) * b.slowdown_s, NULL
    FROM job_slowdown a CROSS JOIN job_slowdown b CROSS JOIN (SELECT DISTINCT cause FROM job_causes) w
    WHERE EXISTS (SELECT 1 FROM job_causes c WHERE c.job_id IN (a.job_id, b.job_id) AND c.cause = w.cause)
) c
ORDER BY c.part, c.item;

-- Runs are compared within one configuration only: a changed parameter of MPI costs time too (Jha 2017). The signature
-- from the site is the best name of it, the job's name the next best.
CREATE VIEW job_configurations AS
SELECT j.job_id, coalesce(nullif(j.app, ''), nullif(j.name, ''), 'unnamed') || ' on ' || n.nodes || ' nodes' AS configuration,
       n.groups
FROM jobs j JOIN (
    SELECT k.job_id, count(m.node) AS nodes, count(DISTINCT p.group_name) AS groups
    FROM jobs k LEFT JOIN job_nodes m USING (job_id) LEFT JOIN node_places p USING (node) GROUP BY k.job_id
) n USING (job_id);

-- Finished runs with enough data to learn from.
CREATE VIEW learnable_runs AS
SELECT j.job_id, c.configuration, c.groups, j.end_time, j.end_time - j.start_time AS run_s, r.slowdown_s
FROM jobs j JOIN job_results r USING (job_id) JOIN job_configurations c USING (job_id)
WHERE j.end_time IS NOT NULL AND NOT j.end_presumed AND j.end_time > j.start_time AND r.completeness >= 0.6;
