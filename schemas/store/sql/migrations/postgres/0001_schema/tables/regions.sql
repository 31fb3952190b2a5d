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
    cause           text NOT NULL,          -- self, other_job, io_on_mpi, failover_induced, server, node, unknown
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
    position  integer NOT NULL,             -- 0 lost most, by the lower end
    lost_s    double precision NOT NULL,
    lost_lo_s double precision NOT NULL, -- 95% interval
    lost_hi_s double precision NOT NULL,
    share     double precision NOT NULL,    -- of what all victims lost
    PRIMARY KEY (region_id, job_id)
) WITH (fillfactor = 70);
CREATE INDEX region_victims_by_job ON region_victims (job_id);

-- Sums over `region_victims`, kept by its triggers: a list of all regions does not sum up again. A region without victims has no row.
CREATE TABLE region_losses (
    region_id bigint PRIMARY KEY,
    lost_s    double precision NOT NULL,
    lost_lo_s double precision NOT NULL,
    lost_hi_s double precision NOT NULL
) WITH (fillfactor = 70);

CREATE FUNCTION sum_region_losses() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    DELETE FROM region_losses WHERE region_id IN (SELECT c.region_id FROM changed c)
        AND region_id NOT IN (SELECT v.region_id FROM region_victims v JOIN changed c USING (region_id));
    INSERT INTO region_losses
    SELECT v.region_id, sum(v.lost_s), sum(v.lost_lo_s), sum(v.lost_hi_s)
    FROM region_victims v WHERE v.region_id IN (SELECT c.region_id FROM changed c) GROUP BY 1
    ON CONFLICT (region_id) DO UPDATE SET lost_s = excluded.lost_s, lost_lo_s = excluded.lost_lo_s, lost_hi_s = excluded.lost_hi_s;
    RETURN NULL;
END $$;
CREATE TRIGGER region_victims_put AFTER INSERT ON region_victims REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION sum_region_losses();
CREATE TRIGGER region_victims_changed AFTER UPDATE ON region_victims REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION sum_region_losses();
CREATE TRIGGER region_victims_deleted AFTER DELETE ON region_victims REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION sum_region_losses();
