-- Sources and their latest row: silence is detected here. A node may have several sources of one schema, such as two file
-- systems or two ports: each is known by its part. Updated in place, hence the free space.
CREATE TABLE producers (
    producer  text NOT NULL,
    schema    text NOT NULL,
    component text NOT NULL,
    last_time timestamptz NOT NULL,
    rows      bigint NOT NULL,
    part      text NOT NULL DEFAULT '',     -- mount or port; '' for rows about several at once
    PRIMARY KEY (producer, schema, component, part)
) WITH (fillfactor = 60);

-- Sources that report events alone, as samplers of jobs do, and their latest row. They are never silent, and no part of the
-- completeness.
CREATE TABLE event_sources (
    producer  text NOT NULL,
    schema    text NOT NULL,
    component text NOT NULL,
    last_time timestamptz NOT NULL,
    rows      bigint NOT NULL,
    PRIMARY KEY (producer, schema, component)
) WITH (fillfactor = 60);

-- Sources that the site file expects; `tailback run` writes them. At least one part of each has to report. Rows that
-- only come with events do not count for completeness.
CREATE TABLE expected_sources (
    producer     text NOT NULL,
    schema       text NOT NULL,             -- as in `producers`
    component    text NOT NULL,
    copies       smallint NOT NULL,         -- producers of the same counters, this one counted
    event_driven boolean NOT NULL,
    PRIMARY KEY (producer, schema, component)
);

-- A row for each stretch of more than two and a half usual intervals without a row of a source.
CREATE TABLE silences (
    producer   text NOT NULL,
    schema     text NOT NULL,
    component  text NOT NULL,
    from_time  timestamptz NOT NULL,        -- its last row before
    until_time timestamptz,                 -- its next row; null while it is silent
    part       text NOT NULL DEFAULT '',    -- as in `producers`
    PRIMARY KEY (producer, schema, component, part, from_time)
);
CREATE INDEX silences_by_time ON silences (from_time);
CREATE INDEX silences_open ON silences (producer) WHERE until_time IS NULL;

-- Each partition has its own counts; `dropped_rows` is the sum.
CREATE TABLE dropped_counts (
    stage     text NOT NULL,
    partition integer NOT NULL,
    reason    text NOT NULL,
    count     bigint NOT NULL,
    PRIMARY KEY (stage, partition, reason)
);
