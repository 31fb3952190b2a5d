-- Contended regions, the factors of a job's loss, and where nodes stand.

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
    position  integer,                      -- 0 is the worst; null when it belongs to the region no longer
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

-- A placement is null without runs to compare with.
CREATE TABLE job_factors (
    job_id        text PRIMARY KEY,
    configuration text NOT NULL,            -- runs are compared within one alone
    self_s        double precision NOT NULL, -- lost to its own traffic
    self_lo_s     double precision NOT NULL,
    self_hi_s     double precision NOT NULL,
    other_s       double precision NOT NULL, -- lost to others
    other_lo_s    double precision NOT NULL,
    other_hi_s    double precision NOT NULL,
    placement     double precision,         -- run time at this placement over that at the best known one
    placement_lo  double precision,
    placement_hi  double precision,
    beta          double precision NOT NULL, -- seconds of run time that a second of contention costs, 0 to 1
    beta_lo       double precision NOT NULL,
    beta_hi       double precision NOT NULL,
    beta_version  integer NOT NULL,         -- 0: nothing was learnt
    beta_runs     integer NOT NULL,
    caveat        text NOT NULL             -- what should be known of the answer; never names another job
) WITH (fillfactor = 70);

-- Where a node stands, for networks whose names do not tell: the switch it hangs on and that switch's group or pod.
CREATE TABLE node_switches (
    node       text NOT NULL,
    switch     text NOT NULL,
    group_name text NOT NULL,               -- '' where there is none
    PRIMARY KEY (node, switch)
);
CREATE INDEX node_switches_by_switch ON node_switches (switch);

-- Whoever reports an Aries router hangs on it.
CREATE VIEW node_places WITH (security_barrier = true) AS
SELECT node, switch, nullif(group_name, '') AS group_name FROM node_switches
UNION
SELECT p.producer, p.component, aries_group(p.component) FROM producers p
WHERE p.component <> p.producer AND aries_group(p.component) IS NOT NULL
  AND NOT EXISTS (SELECT FROM node_switches n WHERE n.node = p.producer);

-- Whether the caller may see everybody's jobs. A body of this form is bound now, so that no search path can change it.
CREATE FUNCTION tailback_sees_all() RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN pg_catalog.pg_has_role(current_user, 'tailback_reader', 'USAGE')
        OR pg_catalog.pg_has_role(current_user, 'tailback_writer', 'USAGE')
        OR pg_catalog.pg_has_role(current_user, (SELECT relowner FROM pg_catalog.pg_class
                                                 WHERE oid = 'public.jobs'::regclass), 'USAGE');

-- The following views have their owner's rights, and say themselves which jobs are seen: those of who logged in.

-- Jobs with the latest time that is known of their runs.
CREATE VIEW job_runs WITH (security_barrier = true) AS
SELECT j.job_id, j.start_time, coalesce(j.end_time, greatest((SELECT now FROM clock), j.start_time)) AS until_time
FROM jobs j WHERE j.user_name = session_user OR (SELECT tailback_sees_all());

-- Regions in which an own job waits, or of whose load it makes a part.
CREATE VIEW own_regions WITH (security_barrier = true) AS
SELECT v.region_id FROM region_victims v JOIN jobs j USING (job_id) WHERE j.user_name = session_user
UNION
SELECT c.region_id FROM region_causes c JOIN jobs j ON j.job_id = c.series_or_job WHERE j.user_name = session_user;

-- Names of others' jobs are kept back: only what is surely a series or an own job is named.
CREATE VIEW region_causes_shown WITH (security_barrier = true) AS
SELECT c.region_id, c.position, c.cause,
       CASE WHEN c.series_or_job = '' OR (SELECT tailback_sees_all())
                OR EXISTS (SELECT FROM series s WHERE s.name = c.series_or_job)
                OR EXISTS (SELECT FROM jobs j WHERE j.job_id = c.series_or_job AND j.user_name = session_user)
            THEN c.series_or_job ELSE 'another job' END AS series_or_job,
       c.share, c.confidence, c.evidence
FROM region_causes c
WHERE (SELECT tailback_sees_all()) OR c.region_id IN (SELECT o.region_id FROM own_regions o);

CREATE VIEW job_causes_shown WITH (security_barrier = true) AS
SELECT c.job_id, c.position, c.cause, c.kind,
       CASE WHEN c.series_or_job = '' OR (SELECT tailback_sees_all())
                OR EXISTS (SELECT FROM series s WHERE s.name = c.series_or_job)
                OR EXISTS (SELECT FROM jobs j WHERE j.job_id = c.series_or_job AND j.user_name = session_user)
            THEN c.series_or_job ELSE 'another job' END AS series_or_job,
       c.share
FROM job_causes c JOIN job_runs r USING (job_id);

-- Seconds that an episode lost up to a time, by linear interpolation of its profile.
CREATE FUNCTION episode_loss_until(start_time timestamptz, profile jsonb, slowdown_s double precision, at_time timestamptz)
    RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    WITH points AS (
        SELECT (p->>0)::double precision AS time_s, (p->>1)::double precision AS lost_s FROM jsonb_array_elements($2) AS p
        UNION ALL
        SELECT extract(epoch FROM $1)::double precision, 0
    ), asked AS (
        SELECT extract(epoch FROM $4)::double precision AS time_s
    )
    SELECT coalesce((
        SELECT CASE WHEN a.time_s <= extract(epoch FROM $1) THEN 0
                    ELSE coalesce(before.lost_s, 0) + (after.lost_s - coalesce(before.lost_s, 0))
                         * (a.time_s - before.time_s) / nullif(after.time_s - before.time_s, 0) END
        FROM asked a
        JOIN LATERAL (SELECT * FROM points p WHERE p.time_s >= a.time_s ORDER BY p.time_s LIMIT 1) after ON true
        LEFT JOIN LATERAL (SELECT * FROM points p WHERE p.time_s < a.time_s ORDER BY p.time_s DESC LIMIT 1) before ON true
    ), $3)
$$;

-- Contended stretches of a job's series during its run, and what of their loss falls into it. Who caused them is left
-- out: it names jobs. Only those that cross an edge of the run need their profile read.
CREATE VIEW job_episodes WITH (security_barrier = true) AS
SELECT r.job_id, e.source_partition, e.id, e.series_id, greatest(e.start_time, r.start_time) AS from_time,
       least(e.end_time, r.until_time) AS until_time, e.open, e.peak, e.baseline,
       in_run.share * e.slowdown_s AS lost_s, in_run.share * e.slowdown_lo_s AS lost_lo_s,
       in_run.share * e.slowdown_hi_s AS lost_hi_s, e.completeness
FROM job_runs r JOIN job_series js USING (job_id)
CROSS JOIN LATERAL (
    -- A seek for each series, whatever is thought of how many they are: OFFSET keeps the planner from reading all episodes.
    SELECT * FROM episodes o
    WHERE o.series_id = js.series_id AND o.start_time < r.until_time AND o.end_time > r.start_time OFFSET 0
) e
CROSS JOIN LATERAL (
    SELECT CASE WHEN e.start_time >= r.start_time AND e.end_time <= r.until_time THEN 1
                WHEN e.slowdown_s > 0
                THEN (episode_loss_until(e.start_time, e.profile, e.slowdown_s, r.until_time)
                      - episode_loss_until(e.start_time, e.profile, e.slowdown_s, r.start_time)) / e.slowdown_s
                ELSE 0 END AS share
) in_run;

-- Names of the series and mounts that jobs use.
CREATE VIEW job_resources WITH (security_barrier = true) AS
SELECT js.job_id, s.series_id, s.name AS series, s.metric, s.component, s.part
FROM job_series js JOIN series s USING (series_id) JOIN job_runs r USING (job_id);

-- Episodes that overlap a time are found in the index alone.
DROP INDEX episodes_by_series;
CREATE INDEX episodes_by_series ON episodes (series_id, start_time, end_time);
DROP INDEX episodes_by_end;
CREATE INDEX episodes_by_end ON episodes (end_time, start_time);

-- Row policies, and who may ask.
GRANT SELECT ON regions, region_steps, region_series, region_causes, region_victims, job_factors, node_switches, node_places,
    region_causes_shown, job_causes_shown, job_episodes, job_runs, job_resources TO tailback_writer, tailback_reader;
GRANT INSERT, UPDATE, DELETE ON regions, region_steps, region_series, region_causes, region_victims, job_factors,
    node_switches TO tailback_writer;
GRANT SELECT ON regions, region_steps, region_series, region_victims, job_factors, node_places, own_regions,
    region_causes_shown, job_causes_shown, job_episodes, job_runs, job_resources, clock TO tailback_user;
-- Its last word may be somebody else's job; `job_causes_shown` has it where it may be known.
REVOKE SELECT ON job_causes FROM tailback_user;
GRANT SELECT (job_id, position, cause, kind, share) ON job_causes TO tailback_user;
DO $$
DECLARE
    guarded text;
BEGIN
    FOREACH guarded IN ARRAY ARRAY['regions', 'region_steps', 'region_series', 'region_causes', 'region_victims',
                                   'job_factors'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', guarded);
        EXECUTE format('CREATE POLICY writer_all ON %I TO tailback_writer USING (true) WITH CHECK (true)', guarded);
        EXECUTE format('CREATE POLICY reader_all ON %I FOR SELECT TO tailback_reader USING (true)', guarded);
    END LOOP;
    -- The policy of `jobs` applies inside the subquery. `region_causes` has none for users: they see nothing of it.
    FOREACH guarded IN ARRAY ARRAY['region_victims', 'job_factors'] LOOP
        EXECUTE format('CREATE POLICY user_own ON %I FOR SELECT TO tailback_user '
                       'USING (EXISTS (SELECT FROM jobs j WHERE j.job_id = %I.job_id))', guarded, guarded);
    END LOOP;
    FOREACH guarded IN ARRAY ARRAY['regions', 'region_steps', 'region_series'] LOOP
        EXECUTE format('CREATE POLICY user_own ON %I FOR SELECT TO tailback_user '
                       'USING (region_id IN (SELECT o.region_id FROM own_regions o))', guarded);
    END LOOP;
END $$;
