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

-- What a receiver added to comments in Slurm, so that it is taken back.
CREATE TABLE alert_marks (
    receiver TEXT NOT NULL,
    target   TEXT NOT NULL,                     -- job, node
    name     TEXT NOT NULL,
    incident TEXT NOT NULL,
    value    TEXT NOT NULL,                     -- what was written
    until_s  REAL NOT NULL,         -- when it is taken back
    PRIMARY KEY (receiver, target, name)
) STRICT;
