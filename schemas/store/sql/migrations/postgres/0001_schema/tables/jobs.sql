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
    end_presumed boolean NOT NULL DEFAULT false, -- no end arrived: `end_time` is the latest possible one
    application  text NOT NULL GENERATED ALWAYS AS (coalesce(nullif(app, ''), name)) STORED
);
CREATE INDEX jobs_by_user ON jobs (user_name, start_time);
CREATE INDEX jobs_by_application ON jobs (application, start_time);
CREATE INDEX jobs_by_end ON jobs (end_time);
CREATE INDEX jobs_by_label ON jobs (label) WHERE label <> '';

-- The stages write in any order, so no table about a job references its row in `jobs`.
CREATE TABLE job_nodes (
    job_id text NOT NULL,
    node   text NOT NULL,
    PRIMARY KEY (job_id, node)
);
CREATE INDEX job_nodes_by_node ON job_nodes (node);

-- Number of nodes of a job, kept by triggers of `job_nodes`: what all jobs of a month cost is summed without counting millions of rows.
CREATE TABLE job_sizes (
    job_id text PRIMARY KEY,
    nodes  bigint NOT NULL
);

CREATE FUNCTION count_job_nodes() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    DELETE FROM job_sizes WHERE job_id IN (SELECT c.job_id FROM changed c)
        AND job_id NOT IN (SELECT n.job_id FROM job_nodes n JOIN changed c USING (job_id));
    INSERT INTO job_sizes
    SELECT n.job_id, count(*) FROM job_nodes n WHERE n.job_id IN (SELECT c.job_id FROM changed c) GROUP BY 1 ORDER BY 1
    ON CONFLICT (job_id) DO UPDATE SET nodes = excluded.nodes;
    RETURN NULL;
END $$;
CREATE TRIGGER job_nodes_put AFTER INSERT ON job_nodes REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_job_nodes();
CREATE TRIGGER job_nodes_deleted AFTER DELETE ON job_nodes REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_job_nodes();

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
    cause         text NOT NULL,            -- self, other_job, io_on_mpi, failover_induced, server, node, unknown
    kind          text NOT NULL,            -- avoidable, capacity, endpoint, unknown
    series_or_job text NOT NULL,
    share         double precision NOT NULL,
    PRIMARY KEY (job_id, position)
);
CREATE INDEX job_causes_by_aggressor ON job_causes (series_or_job);

-- What a job's own reports of progress show, each name for itself. The losses are null unless `state` is measured.
CREATE TABLE job_progress (
    job_id      text NOT NULL,
    name        text NOT NULL,              -- what the job counts: steps, bytes
    covered_s   double precision NOT NULL,  -- seconds of the job between its reports
    contended_s double precision NOT NULL,  -- those in contention, with pauses of up to a minute
    per_s       double precision,           -- counts a second of the mean rank without contention; null: there was none
    counters_s  double precision NOT NULL,  -- lost by the counters of links and file systems
    state       text NOT NULL,              -- measured, never_contended, never_clear, counts_files, stops_for_files, too_few
    lost_s      double precision,           -- lost in all contended time of the run, by these reports
    lost_lo_s   double precision,           -- 95% interval
    lost_hi_s   double precision,
    cost        double precision,           -- the same over counters_s
    cost_lo     double precision,
    cost_hi     double precision,
    PRIMARY KEY (job_id, name)
);

-- Which series a job uses: its nodes' mounts and ports, and the routers that its nodes report.
CREATE TABLE job_series (
    job_id    text NOT NULL,
    series_id integer NOT NULL,
    PRIMARY KEY (job_id, series_id)
);
CREATE INDEX job_series_by_series ON job_series (series_id);

-- File systems of which a job has clients among its series, kept by a trigger: a job on a large machine has a thousand series.
CREATE TABLE job_mounts (
    job_id text NOT NULL,
    mount  text NOT NULL,
    PRIMARY KEY (mount, job_id)
);
CREATE INDEX job_mounts_by_job ON job_mounts (job_id);

CREATE FUNCTION put_job_mounts() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    INSERT INTO job_mounts
    SELECT DISTINCT a.job_id, s.part FROM added a JOIN series s USING (series_id) JOIN metrics m USING (metric)
    WHERE m.resource IS NOT NULL AND s.part IS NOT NULL
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER job_series_put AFTER INSERT ON job_series REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION put_job_mounts();

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
