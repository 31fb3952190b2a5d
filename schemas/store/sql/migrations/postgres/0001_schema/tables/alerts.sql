-- Incidents, the outbox of their notices, silences, and marks that were set elsewhere. Times are seconds since the epoch:
-- of incidents event time, of everything else the deliverer's clock. The statements are the same in both databases.
CREATE TABLE alert_incidents (
    incident      text PRIMARY KEY,             -- 16 hexadecimal digits
    rule          text NOT NULL,
    severity      text NOT NULL,                -- info, warning, critical
    subject       text NOT NULL,                -- a region, a job, a mount, a series, a source
    state         text NOT NULL,                -- firing, resolved
    started_s     double precision NOT NULL,    -- when contention or silence began
    fired_s       double precision NOT NULL,    -- when the rule's least duration was over
    resolved_s    double precision,
    valid_until_s double precision NOT NULL,    -- of its advice
    sequence      bigint NOT NULL,              -- of its latest notice
    action        text NOT NULL,                -- what a scheduler may do: a word of a closed list
    summary       text NOT NULL,
    notice        text NOT NULL                 -- the latest one: schemas/alerts/notice.schema.json
) WITH (fillfactor = 70);
CREATE INDEX alert_incidents_by_state ON alert_incidents (state, started_s);

-- What incidents of file systems cost, as `sum_storage_losses` finds it once a minute.
CREATE TABLE storage_losses (
    incident     text PRIMARY KEY REFERENCES alert_incidents ON DELETE CASCADE,
    resolved_s   double precision,              -- of the incident when it was summed up
    summed_at    timestamptz NOT NULL,          -- event time of it
    clients      bigint,                        -- clients with an episode in it; null without one, as what follows
    cause        jsonb,                         -- first cause of the worst client
    completeness double precision,
    lost_s       double precision,
    lost_lo_s    double precision,
    lost_hi_s    double precision,
    lost_by      text NOT NULL                  -- jobs, worst_client
) WITH (fillfactor = 70);

CREATE TABLE alert_outbox (
    key            text NOT NULL,               -- idempotency key: <incident>.<sequence>
    receiver       text NOT NULL,
    incident       text NOT NULL,
    sequence       bigint NOT NULL,
    kind           text NOT NULL,               -- firing, renewed, resolved
    notice         text NOT NULL,
    state          text NOT NULL DEFAULT 'waiting', -- waiting, repeating, delivered, dead, superseded, silenced
    attempts       bigint NOT NULL DEFAULT 0,
    next_try_s     double precision NOT NULL DEFAULT 0,
    leased_until_s double precision NOT NULL DEFAULT 0,
    leased_by      text NOT NULL DEFAULT '',
    held           bigint NOT NULL DEFAULT 0,   -- 1 when a silence held it back at the latest check
    first_try_s    double precision,
    delivered_s    double precision,
    last_error     text NOT NULL DEFAULT '',
    PRIMARY KEY (key, receiver)
) WITH (fillfactor = 70);
CREATE INDEX alert_outbox_by_incident ON alert_outbox (receiver, incident, sequence);
CREATE INDEX alert_outbox_due ON alert_outbox (receiver, next_try_s) WHERE state IN ('waiting', 'repeating');

CREATE TABLE alert_silences (
    id       text PRIMARY KEY,
    matchers text NOT NULL,                     -- JSON object: label to text, `*` at its end for anything
    from_s   double precision NOT NULL,
    until_s  double precision NOT NULL,
    author   text NOT NULL,
    comment  text NOT NULL
);

-- What a receiver added to comments in Slurm, so that it is taken back.
CREATE TABLE alert_marks (
    receiver text NOT NULL,
    target   text NOT NULL,                     -- job, node
    name     text NOT NULL,
    incident text NOT NULL,
    value    text NOT NULL,                     -- what was written
    until_s  double precision NOT NULL,         -- when it is taken back
    PRIMARY KEY (receiver, target, name)
);
