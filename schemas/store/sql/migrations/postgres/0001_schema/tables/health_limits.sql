-- Limits of Tailback's own condition, from the section [health] of the configuration: written by the process with the stage rollup.
CREATE TABLE health_limits (
    name    text PRIMARY KEY,
    above   double precision NOT NULL,      -- a value above it is a problem
    meaning text NOT NULL
);

-- Messages that each stage has not read yet, measured every minute by the process with the stage rollup.
CREATE TABLE stage_backlog (
    stage       text PRIMARY KEY,           -- aggregator, detector, rollup
    messages    bigint NOT NULL,
    measured_at timestamptz NOT NULL DEFAULT now()
);
