-- Limits of Tailback's own condition, from the section [health] of the configuration: written by the process with the stage rollup.
CREATE TABLE health_limits (
    name    text PRIMARY KEY,
    above   double precision NOT NULL,      -- a value above it is a problem
    meaning text NOT NULL
);
