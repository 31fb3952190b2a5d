-- Tables, their indexes and first rows. Tables have the names of the embedded schema; times are timestamptz.

-- Compiling a plan takes seconds where it has many chunks, and saves milliseconds: all answers are short. Only the
-- owner of the database can set it.
DO $$ BEGIN
    EXECUTE format('ALTER DATABASE %I SET jit = off', current_database());
EXCEPTION WHEN insufficient_privilege THEN
    RAISE WARNING 'jit stays on: only the owner of the database may turn it off';
END $$;

-- Number and name of each measured series.
CREATE TABLE series (
    series_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name      text NOT NULL UNIQUE,         -- <metric>/<component>[/<part>]
    metric    text NOT NULL,                -- aries_stall_ratio, ib_wait_ratio, lustre_write_rate
    component text NOT NULL,                -- router, host or client node
    part      text                          -- tile, port or mount; null for the component as a whole
);
CREATE INDEX series_by_component ON series (metric, component);

-- History of the signals; read it through the view `signals`. No unique key: each row is written once, because it
-- commits together with the position in the input, and a unique index would forbid COPY into the columnstore.
-- Wide columns first: no padding. The counters are flits and stalls of an Aries tile, words and ticks waited of an
-- InfiniBand port, for each tick that has a row of its own (contended, or every one). They are null in rows of ten
-- seconds of a quiet series, for Lustre clients, whose reading is the rate of their counter, and for routers as a whole.
CREATE TABLE signal_rows (
    time         timestamptz NOT NULL,      -- end of the tick, sampler's clock
    slowdown_s   double precision NOT NULL, -- accumulated seconds lost
    series_id    integer NOT NULL,
    value        real,                      -- reading, in the metric's unit; mean over `ticks`
    mean         real,                      -- windowed geometric mean
    baseline     real,                      -- non-contended geometric mean
    bound        real,                      -- threshold of the mean
    state        smallint NOT NULL,         -- tailback_state() gives the word
    ticks        smallint NOT NULL,         -- ticks that this row covers, the last of which is `time`
    passed_per_s real,
    waited_per_s real
);
CREATE INDEX signal_rows_by_series ON signal_rows (series_id, time);
-- The newest minutes are read all the time, and every range of pages is new once: without a summary of its own it is
-- read for any span of time until the next vacuum.
CREATE INDEX signal_rows_by_time ON signal_rows USING brin (time) WITH (autosummarize = on);

-- The first tier: ten seconds of one series, written with the signals in the same transaction. A continuous aggregate
-- of `signal_rows` would put a trigger on it, with which COPY cannot write to the columnstore.
CREATE TABLE signal_buckets (
    time            timestamptz NOT NULL,   -- start of the ten seconds
    slowdown_s      double precision NOT NULL, -- accumulated at the last tick
    series_id       integer NOT NULL,
    value           real,                   -- mean over the ticks
    value_min       real,
    value_max       real,
    mean            real,                   -- of the last tick
    baseline        real,                   -- of the last tick
    ticks           smallint NOT NULL,      -- ticks with data
    contended_ticks smallint NOT NULL
);
CREATE INDEX signal_buckets_by_series ON signal_buckets (series_id, time);
CREATE INDEX signal_buckets_by_time ON signal_buckets USING brin (time) WITH (autosummarize = on);

-- Minutes and hours are written by the detector, as the ten seconds are. An aggregate over the ten seconds reads and
-- inserts a whole minute of all series at once, for which signals wait, and puts a trigger on their table, with which
-- COPY cannot write to the columnstore.
CREATE TABLE signal_minutes (
    time            timestamptz NOT NULL,   -- start of the minute
    slowdown_s      double precision NOT NULL, -- accumulated at the last tick with data
    series_id       integer NOT NULL,
    value           real,                   -- mean over the ticks
    value_min       real,
    value_max       real,
    mean            real,                   -- mean of the tier below
    baseline        real,
    ticks           integer NOT NULL,       -- ticks with data
    contended_ticks integer NOT NULL,
    passed_per_s    real,                   -- raw counters behind the ratio, mean over the ticks
    waited_per_s    real
);
CREATE INDEX signal_minutes_by_series ON signal_minutes (series_id, time);
CREATE INDEX signal_minutes_by_time ON signal_minutes USING brin (time) WITH (autosummarize = on);

CREATE TABLE signal_hours (LIKE signal_minutes);
CREATE INDEX signal_hours_by_series ON signal_hours (series_id, time);
CREATE INDEX signal_hours_by_time ON signal_hours USING brin (time) WITH (autosummarize = on);

-- Sums of groups, file systems, classes of links and of the whole machine, written with the ten seconds that they sum,
-- in the same transaction. A commit holds a part of the series: parts of one place and time add up.
CREATE TABLE place_buckets (
    time             timestamptz NOT NULL,  -- start of the ten seconds
    value_sum        double precision,      -- sum over series of their mean readings; null without a reading
    ticks            bigint NOT NULL,       -- with data, of all series
    contended_ticks  bigint NOT NULL,
    series           integer NOT NULL,      -- with data
    contended_series integer NOT NULL,      -- contended at some tick
    value_max        real,                  -- largest reading
    kind             text NOT NULL,         -- system, group, file system, link class
    name             text NOT NULL,         -- '' for the system, and for what no group is known of
    metric           text NOT NULL
);
CREATE INDEX place_buckets_by_place ON place_buckets (kind, name, time);
CREATE INDEX place_buckets_by_time ON place_buckets USING brin (time) WITH (autosummarize = on);

-- Each detector partition numbers its own episodes. An index answers alone where the pages are known to be visible to all:
-- after a vacuum, which by default comes with a fifth more rows, of months of episodes once in weeks.
CREATE TABLE episodes (
    source_partition integer NOT NULL,
    id            bigint NOT NULL,
    series_id     integer NOT NULL,
    start_time    timestamptz NOT NULL,
    end_time      timestamptz NOT NULL,     -- latest contended tick while open
    open          boolean NOT NULL,         -- while contention is ongoing
    peak          double precision,
    baseline      double precision,
    slowdown_s    double precision NOT NULL,
    slowdown_lo_s double precision NOT NULL,
    slowdown_hi_s double precision NOT NULL,
    completeness  double precision NOT NULL,
    profile       jsonb NOT NULL,           -- list of [time, accumulated slowdown_s]
    causes        jsonb NOT NULL,           -- list of {cause, kind, series_or_job, share}
    PRIMARY KEY (source_partition, id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);
CREATE INDEX episodes_by_start ON episodes (open, start_time);
-- The values that are summed are in the index: by series for jobs, by time for the whole machine. Rows are wide (profile,
-- causes) and stored in the order in which they began, so that those of one job are spread over many pages.
CREATE INDEX episodes_by_series ON episodes (series_id, start_time, end_time)
    INCLUDE (source_partition, id, slowdown_s, slowdown_lo_s, slowdown_hi_s, completeness);
CREATE INDEX episodes_by_end ON episodes (end_time, start_time)
    INCLUDE (series_id, source_partition, id, peak, baseline, slowdown_s, slowdown_lo_s, slowdown_hi_s, completeness);

-- Users call a job 1234_7 of an array, 1234+0 of a het job. Later runs of a requeued job are jobs of their own, with
-- .r1, .r2, … after the number.
CREATE TABLE jobs (
    job_id       text PRIMARY KEY,
    user_name    text NOT NULL,
    name         text NOT NULL,
    start_time   timestamptz NOT NULL,
    end_time     timestamptz,               -- null while it runs or when the end never arrived
    app          text,
    label        text NOT NULL DEFAULT '',  -- the name that users call it by where that is not its number
    end_presumed boolean NOT NULL DEFAULT false -- no end arrived: `end_time` is the latest possible one
);
CREATE INDEX jobs_by_user ON jobs (user_name, start_time);
CREATE INDEX jobs_by_end ON jobs (end_time);
CREATE INDEX jobs_by_label ON jobs (label) WHERE label <> '';

-- The stages write in any order, so no table about a job references its row in `jobs`.
CREATE TABLE job_nodes (
    job_id text NOT NULL,
    node   text NOT NULL,
    PRIMARY KEY (job_id, node)
);
CREATE INDEX job_nodes_by_node ON job_nodes (node);

CREATE TABLE job_results (
    job_id        text PRIMARY KEY,
    contended_s   double precision NOT NULL,
    slowdown_s    double precision NOT NULL,
    slowdown_lo_s double precision NOT NULL,
    slowdown_hi_s double precision NOT NULL,
    completeness  double precision NOT NULL,
    judged        double precision NOT NULL DEFAULT 1 -- share of its series-seconds that had a quiet baseline
);

CREATE TABLE job_causes (
    job_id        text NOT NULL,
    position      integer NOT NULL,         -- 0 is the largest share
    cause         text NOT NULL,            -- self, other_job, io_on_mpi, failover_induced, server, unknown
    kind          text NOT NULL,            -- avoidable, capacity, endpoint, unknown
    series_or_job text NOT NULL,
    share         double precision NOT NULL,
    PRIMARY KEY (job_id, position)
);

-- Which series a job uses: its nodes' mounts and ports, and the routers that its nodes report.
CREATE TABLE job_series (
    job_id    text NOT NULL,
    series_id integer NOT NULL,
    PRIMARY KEY (job_id, series_id)
);
CREATE INDEX job_series_by_series ON job_series (series_id);

-- A placement is null without runs to compare with.
CREATE TABLE job_factors (
    job_id        text PRIMARY KEY,
    configuration text NOT NULL,            -- runs are compared within one alone
    self_s        double precision NOT NULL, -- lost to its own traffic
    self_lo_s     double precision NOT NULL,
    self_hi_s     double precision NOT NULL,
    other_s       double precision NOT NULL, -- lost to other jobs
    other_lo_s    double precision NOT NULL,
    other_hi_s    double precision NOT NULL,
    placement     double precision,         -- run time at this placement over that at the best known one
    placement_lo  double precision,
    placement_hi  double precision,
    beta          double precision NOT NULL, -- seconds of run time that a second of contention costs, 0 to 1
    beta_lo       double precision NOT NULL,
    beta_hi       double precision NOT NULL,
    beta_version  integer NOT NULL,         -- 0: uncalibrated
    beta_runs     integer NOT NULL,
    caveat        text NOT NULL             -- limits of the answer; never names another job
) WITH (fillfactor = 70);

-- What finished runs of one configuration show about the loss of a run; one version a fit.
CREATE TABLE betas (
    configuration text NOT NULL,
    version       integer NOT NULL,         -- from 1; a new one with every run that changes it
    beta          double precision NOT NULL, -- seconds of run time that a second of contention costs
    beta_lo       double precision NOT NULL, -- 95% interval
    beta_hi       double precision NOT NULL,
    clear_s       double precision NOT NULL, -- run time without contention
    runs          integer NOT NULL,
    learnt_until  timestamptz NOT NULL,     -- end of the latest of these runs
    PRIMARY KEY (configuration, version)
);

-- Contended regions.
CREATE TABLE regions (
    region_id       bigint PRIMARY KEY,
    metric          text NOT NULL,          -- of its links
    name            text NOT NULL,          -- uplinks of leaf-03, group 4 to group 7, router c0-0c1s8
    start_time      timestamptz NOT NULL,
    end_time        timestamptz NOT NULL,   -- latest tick while open
    open            boolean NOT NULL,
    links           integer NOT NULL,       -- now; of an ended one, at its end
    links_most      integer NOT NULL,
    peak            double precision,       -- the worst windowed ratio ever seen in it, in the metric's unit
    kind            text NOT NULL,          -- avoidable, capacity, endpoint, unknown
    kind_confidence double precision NOT NULL,
    relief          double precision NOT NULL, -- share by which the worst load would fall if parallel links were even
    cause           text NOT NULL,          -- self, other_job, io_on_mpi, failover_induced, server, unknown
    confidence      double precision NOT NULL, -- of the cause
    completeness    double precision NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX regions_by_start ON regions (open, start_time);
CREATE INDEX regions_by_end ON regions (end_time);

CREATE TABLE region_steps (
    region_id    bigint NOT NULL,
    time         timestamptz NOT NULL,
    change       text NOT NULL,             -- began, grew, shrank, took_up, went_into, split, ended
    other        bigint NOT NULL,           -- the region that it came from, or that came of it; 0 for none
    links        integer NOT NULL,          -- from then on
    worst_series text NOT NULL,
    worst        double precision,          -- its windowed ratio, in the metric's unit
    PRIMARY KEY (region_id, time, change, other)
);

CREATE TABLE region_series (
    region_id bigint NOT NULL,
    series    text NOT NULL,
    position  integer,                      -- 0 is the worst; null after it left the region
    PRIMARY KEY (region_id, series)
);
CREATE INDEX region_series_by_series ON region_series (series);

CREATE TABLE region_causes (
    region_id     bigint NOT NULL,
    position      integer NOT NULL,         -- 0 is the largest share
    cause         text NOT NULL,
    series_or_job text NOT NULL,
    share         double precision NOT NULL, -- of the load on its worst links; they sum to at most 1
    confidence    double precision NOT NULL,
    evidence      jsonb NOT NULL,           -- list of words, the strongest first
    PRIMARY KEY (region_id, position)
);
CREATE INDEX region_causes_by_job ON region_causes (series_or_job);

CREATE TABLE region_victims (
    region_id bigint NOT NULL,
    job_id    text NOT NULL,
    position  integer NOT NULL,             -- 0 lost most
    lost_s    double precision NOT NULL,
    share     double precision NOT NULL,    -- of what all victims lost
    PRIMARY KEY (region_id, job_id)
) WITH (fillfactor = 70);
CREATE INDEX region_victims_by_job ON region_victims (job_id);

-- The switch of a node and the group or pod of that switch, for networks whose names do not contain them.
CREATE TABLE node_switches (
    node       text NOT NULL,
    switch     text NOT NULL,
    group_name text NOT NULL,               -- '' where there is none
    PRIMARY KEY (node, switch)
);
CREATE INDEX node_switches_by_switch ON node_switches (switch);

-- The link that a series measures, from the topology. Of several groups of parallel links that a link is in, the largest.
CREATE TABLE link_places (
    series      text PRIMARY KEY,
    class       text NOT NULL,              -- host, leaf, spine, local, global, green, black, blue, other
    from_name   text NOT NULL,              -- transmitting end
    to_name     text NOT NULL,
    bundle      text NOT NULL,              -- parallel links among which routing may choose; '' for none
    bytes_per_s double precision            -- capacity; null where the topology has none
);
CREATE INDEX link_places_by_bundle ON link_places (bundle) WHERE bundle <> '';

-- The group of each component: from its name, or from the switch that it is or is connected to; '' where it is unknown.
CREATE TABLE component_places (
    metric     text NOT NULL,
    component  text NOT NULL,
    group_name text NOT NULL,
    PRIMARY KEY (metric, component)
);
CREATE INDEX component_places_by_group ON component_places (group_name);

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

-- Metrics of Tailback itself, minute by minute of event time.
CREATE TABLE health_minutes (
    figure text NOT NULL,                   -- lag_s, dropped_rows, silent_sources, sources, database_bytes
    label  text NOT NULL,                   -- stage or reason; '' where there is one alone
    time   timestamptz NOT NULL,
    value  double precision NOT NULL,
    PRIMARY KEY (figure, label, time)
);

-- Until when minutes and hours are summed.
CREATE TABLE roll_up_progress (
    minutes_until timestamptz,
    hours_until   timestamptz
);
INSERT INTO roll_up_progress VALUES (NULL, NULL);

-- Retention of each tier; null keeps it for ever. `tailback migrate` writes the configured values.
CREATE TABLE tier_retention (
    tier     text PRIMARY KEY,              -- raw, 10s, 1min, 1h
    kept_for interval
);
INSERT INTO tier_retention VALUES ('raw', '14 days'), ('10s', '60 days'), ('1min', '400 days'), ('1h', NULL);

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

-- Changes of a receiver in Slurm, so that they are restored.
CREATE TABLE alert_marks (
    receiver text NOT NULL,
    target   text NOT NULL,                     -- job, node
    name     text NOT NULL,
    incident text NOT NULL,
    value    text NOT NULL,                     -- what was written
    before   text NOT NULL,                     -- the earlier value
    until_s  double precision NOT NULL,         -- when it is restored
    PRIMARY KEY (receiver, target, name)
);

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

-- Messages and rows that a stage skipped, written in the stage's transaction: each once. Bounded: `database.raw_days`, the
-- newest 10,000 rows, 4,096 bytes of a content.
CREATE TABLE rejected_messages (
    stage          text NOT NULL,           -- aggregator, detector, rollup
    topic          text NOT NULL,           -- Kafka topic; of a refused row the table
    partition      integer NOT NULL,        -- of the stage's input
    message_offset bigint NOT NULL,         -- of the message; of what Tailback wrote, the end of the commit
    number         bigint NOT NULL,         -- 0 for a message that was read; else its number at that offset
    time           timestamptz NOT NULL DEFAULT clock_timestamp(), -- server's clock
    reason         text NOT NULL,           -- bad_message, too_large, refused_row
    detail         text NOT NULL,           -- the error in words
    message_key    text NOT NULL,           -- Kafka's key; empty where there is none
    size           bigint NOT NULL,         -- bytes of the content
    head           bytea NOT NULL,          -- its first bytes
    PRIMARY KEY (topic, partition, message_offset, stage, number)
);
CREATE INDEX rejected_messages_by_time ON rejected_messages (time);

-- Position of a stage in a partition of its input. The epoch grows with every claim: the holder of an older one cannot
-- commit.
CREATE TABLE stage_positions (
    stage        text NOT NULL,
    partition    integer NOT NULL,
    epoch        bigint NOT NULL,
    owner        text,                      -- null when released
    commits      bigint NOT NULL DEFAULT 0, -- shows whether an interrupted commit happened
    position     bigint,                    -- next message to read; null before the first commit
    event_time   timestamptz,               -- latest signal committed
    committed_at timestamptz,               -- server's clock
    topic_id     text,                      -- Kafka's identity of the topic; null where brokers have none
    offset_base  bigint NOT NULL DEFAULT 0, -- Kafka's offset is position - offset_base: a topic that is created again continues the count
    PRIMARY KEY (stage, partition)
) WITH (fillfactor = 20);

-- State of a stage at `position`, compressed with zstd, cut into chunks.
CREATE TABLE stage_snapshots (
    stage     text NOT NULL,
    partition integer NOT NULL,
    position  bigint NOT NULL,
    version   integer NOT NULL,
    chunk     integer NOT NULL,
    content   bytea NOT NULL,
    PRIMARY KEY (stage, partition, chunk)
);
-- The content is compressed already. PostgreSQL 15 has no STORAGE in CREATE TABLE.
ALTER TABLE stage_snapshots ALTER COLUMN content SET STORAGE EXTERNAL;

-- How often all states were reset (`tailback migrate --forget-positions`). States number episodes and regions: each
-- generation has numbers of its own, so that it does not overwrite stored rows of an earlier one.
CREATE TABLE state_generation (
    generation bigint NOT NULL,
    is_one     boolean PRIMARY KEY DEFAULT true CHECK (is_one)
);
INSERT INTO state_generation (generation) VALUES (0);
