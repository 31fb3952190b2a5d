-- The server's store. Tables and views have the names of the embedded schema; times are timestamptz.

CREATE TABLE series (
    series_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name      text NOT NULL UNIQUE,         -- <metric>/<component>[/<part>]
    metric    text NOT NULL,                -- aries_stall_ratio, ib_wait_ratio, lustre_write_rate
    component text NOT NULL,                -- router, host or client node
    part      text                          -- tile, port or mount; null for the component as a whole
);
CREATE INDEX series_by_component ON series (metric, component);

-- The word of a state's number, in the order of `State` in schemas/src/signal.rs.
CREATE FUNCTION tailback_state(state smallint) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
    RETURN (ARRAY['warmup', 'clear', 'contended', 'idle', 'unknown'])[state + 1];

-- History of the signals; read it through the view `signals`. No unique key: each row is written once, because it
-- commits together with the position in the input, and a unique index would forbid COPY into the columnstore.
-- Wide columns first: no padding.
CREATE TABLE signal_rows (
    time       timestamptz NOT NULL,        -- end of the tick, sampler's clock
    slowdown_s double precision NOT NULL,   -- accumulated seconds lost
    series_id  integer NOT NULL,
    value      real,                        -- reading, in the metric's unit; mean over `ticks`
    mean       real,                        -- windowed geometric mean
    baseline   real,                        -- non-contended geometric mean
    bound      real,                        -- what the mean has to pass
    state      smallint NOT NULL,           -- tailback_state() gives the word
    ticks      smallint NOT NULL            -- ticks that this row stands for, the last of which is `time`
);
CREATE INDEX signal_rows_by_series ON signal_rows (series_id, time);
CREATE INDEX signal_rows_by_time ON signal_rows USING brin (time);

CREATE VIEW signals AS
SELECT series_id, time, value, mean, baseline, bound, tailback_state(state) AS state, slowdown_s, ticks
FROM signal_rows;

-- The first tier: ten seconds of one series, written beside the signals in the same transaction. A continuous
-- aggregate of `signal_rows` would put a trigger on it, with which COPY cannot write to the columnstore.
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
CREATE INDEX signal_buckets_by_time ON signal_buckets USING brin (time);

-- Each detector partition numbers its own episodes.
CREATE TABLE episodes (
    source_partition integer NOT NULL,
    id            bigint NOT NULL,
    series_id     integer NOT NULL,
    start_time    timestamptz NOT NULL,
    end_time      timestamptz NOT NULL,     -- latest contended tick while open
    open          boolean NOT NULL,         -- while contention goes on
    peak          double precision,
    baseline      double precision,
    slowdown_s    double precision NOT NULL,
    slowdown_lo_s double precision NOT NULL,
    slowdown_hi_s double precision NOT NULL,
    completeness  double precision NOT NULL,
    profile       jsonb NOT NULL,           -- list of [time, accumulated slowdown_s]
    causes        jsonb NOT NULL,           -- list of {cause, kind, series_or_job, share}
    PRIMARY KEY (source_partition, id)
);
CREATE INDEX episodes_by_start ON episodes (open, start_time);
CREATE INDEX episodes_by_series ON episodes (series_id, start_time);
CREATE INDEX episodes_by_end ON episodes (end_time);

CREATE TABLE jobs (
    job_id     text PRIMARY KEY,
    user_name  text NOT NULL,
    name       text NOT NULL,
    start_time timestamptz NOT NULL,
    end_time   timestamptz,                 -- null while it runs or when the end never arrived
    app        text
);
CREATE INDEX jobs_by_user ON jobs (user_name, start_time);
CREATE INDEX jobs_by_end ON jobs (end_time);

-- The stages write in any order, so no table of a job's facts depends on its row in `jobs`.
CREATE TABLE job_nodes (
    job_id text NOT NULL,
    node   text NOT NULL,
    PRIMARY KEY (job_id, node)
);

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

-- Each partition counts for itself; `dropped_rows` is the sum.
CREATE TABLE dropped_counts (
    stage     text NOT NULL,
    partition integer NOT NULL,
    reason    text NOT NULL,
    count     bigint NOT NULL,
    PRIMARY KEY (stage, partition, reason)
);
CREATE VIEW dropped_rows AS SELECT reason, sum(count)::bigint AS count FROM dropped_counts GROUP BY reason;

-- Who reports, and when it was last heard: silence is seen here. Updated in place, hence the free space.
CREATE TABLE producers (
    producer  text NOT NULL,
    schema    text NOT NULL,
    component text NOT NULL,
    last_time timestamptz NOT NULL,
    rows      bigint NOT NULL,
    PRIMARY KEY (producer, schema, component)
) WITH (fillfactor = 60);

-- How far a stage has come in a partition of its input. The epoch grows with every claim: whoever holds an older
-- one cannot commit any more.
CREATE TABLE stage_positions (
    stage        text NOT NULL,
    partition    integer NOT NULL,
    epoch        bigint NOT NULL,
    owner        text,                      -- null when released
    commits      bigint NOT NULL DEFAULT 0, -- tells whether an interrupted commit happened
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
-- It is compressed already.
ALTER TABLE stage_snapshots ALTER COLUMN content SET STORAGE EXTERNAL;

CREATE VIEW clock AS SELECT max(event_time) AS now FROM stage_positions;

-- The latest row of each series within 20 s of event time: a quiet series writes one row in ten seconds, which
-- leaves ten for lateness and commits. A series without one is unknown, and listed with its last word missing.
CREATE VIEW series_now AS
SELECT s.series_id, s.name, s.metric, s.component, s.part, l.time, l.value, l.mean, l.baseline, l.bound,
       coalesce(tailback_state(l.state), 'unknown') AS state, l.slowdown_s
FROM series s LEFT JOIN (
    SELECT DISTINCT ON (r.series_id) r.* FROM signal_rows r
    WHERE r.time > (SELECT now - interval '20 seconds' FROM clock)
    ORDER BY r.series_id, r.time DESC
) l USING (series_id);

CREATE VIEW series_episodes AS
SELECT e.source_partition, e.id, s.name AS series, s.metric, s.component, s.part, e.start_time, e.end_time, e.open,
       extract(epoch FROM e.end_time - e.start_time)::double precision AS duration_s, e.peak, e.baseline,
       e.slowdown_s, e.slowdown_lo_s, e.slowdown_hi_s, e.completeness, e.causes
FROM episodes e JOIN series s USING (series_id);

-- With the rights of who asks, so that the row policies hold.
CREATE VIEW job_slowdown WITH (security_invoker = true) AS
SELECT j.job_id, j.user_name, j.name, j.start_time, j.end_time,
       r.contended_s, r.slowdown_s, r.slowdown_lo_s, r.slowdown_hi_s, r.completeness
FROM jobs j LEFT JOIN job_results r USING (job_id);
