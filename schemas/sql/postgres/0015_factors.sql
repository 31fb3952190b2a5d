-- What finished runs of one configuration teach about the loss of a run, and the factors of each job's loss: its own
-- traffic, others, placement; never one number (Kang 2019).

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

-- Runs are compared within one configuration alone: a changed parameter of MPI costs time too (Jha 2017). The signature
-- that the site gives is the best name of it, the job's name the next best.
CREATE FUNCTION job_configuration(app text, name text, nodes bigint) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT format('%s on %s nodes', coalesce(nullif($1, ''), nullif($2, ''), 'unnamed'), $3)
$$;

-- Finished runs of which enough was seen to learn from.
CREATE VIEW learnable_runs AS
SELECT j.job_id, job_configuration(j.app, j.name, n.nodes) AS configuration, j.end_time, n.groups,
       extract(epoch FROM j.end_time - j.start_time)::double precision AS run_s, r.slowdown_s
FROM jobs j JOIN job_results r USING (job_id) CROSS JOIN LATERAL (
    SELECT count(*) AS nodes, count(DISTINCT p.group_name) AS groups
    FROM job_nodes m LEFT JOIN node_places p USING (node) WHERE m.job_id = j.job_id
) n
WHERE j.end_time IS NOT NULL AND NOT j.end_presumed AND j.end_time > j.start_time AND r.completeness >= 0.6;

-- Learns from runs that ended since the last time: run time against seconds of contention, least squares. Five runs at
-- least, of which the contention differs by 2% of the run. Returns how many versions are new.
CREATE FUNCTION learn_betas() RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH fitted AS (
        SELECT configuration, count(*) AS runs, max(end_time) AS learnt_until,
               regr_slope(run_s, slowdown_s) AS slope, regr_intercept(run_s, slowdown_s) AS clear_s,
               sqrt(greatest(regr_syy(run_s, slowdown_s) - regr_slope(run_s, slowdown_s) * regr_sxy(run_s, slowdown_s), 0)
                    / (count(*) - 2) / regr_sxx(run_s, slowdown_s)) AS error
        FROM learnable_runs GROUP BY configuration
        HAVING count(*) >= 5 AND max(slowdown_s) - min(slowdown_s) >= 0.02 * avg(run_s)
    ), latest AS (
        SELECT DISTINCT ON (configuration) configuration, version, runs, learnt_until
        FROM betas ORDER BY configuration, version DESC
    ), put AS (
        INSERT INTO betas (configuration, version, beta, beta_lo, beta_hi, clear_s, runs, learnt_until)
        SELECT f.configuration, coalesce(l.version, 0) + 1, greatest(0, f.slope), greatest(0, f.slope - 1.96 * f.error),
               greatest(0, f.slope + 1.96 * f.error), f.clear_s, f.runs, f.learnt_until
        FROM fitted f LEFT JOIN latest l USING (configuration)
        WHERE l.configuration IS NULL OR (l.runs, l.learnt_until) IS DISTINCT FROM (f.runs::integer, f.learnt_until)
        RETURNING 1
    )
    SELECT count(*) FROM put
$$;

-- Writes the factors of jobs that run, or ended within the last hour of event time; those of older ones stay as they
-- were told, with the version that they were told by. Returns how many.
CREATE FUNCTION tell_factors() RETURNS bigint
    LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH due AS (
        SELECT j.job_id, j.start_time, j.end_time, j.end_presumed, n.groups,
               job_configuration(j.app, j.name, n.nodes) AS configuration, r.slowdown_s, r.slowdown_lo_s, r.slowdown_hi_s,
               r.contended_s, r.completeness, coalesce(c.own, 0) AS own, coalesce(c.others, 0) AS others,
               extract(epoch FROM coalesce(j.end_time, (SELECT now FROM clock)) - j.start_time)::double precision AS run_s
        FROM jobs j JOIN job_results r USING (job_id)
        CROSS JOIN LATERAL (
            SELECT count(*) AS nodes, count(DISTINCT p.group_name) AS groups
            FROM job_nodes m LEFT JOIN node_places p USING (node) WHERE m.job_id = j.job_id
        ) n
        CROSS JOIN LATERAL (
            SELECT sum(share) FILTER (WHERE cause = 'self') AS own,
                   sum(share) FILTER (WHERE cause IN ('other_job', 'io_on_mpi')) AS others
            FROM job_causes k WHERE k.job_id = j.job_id
        ) c
        WHERE j.end_time IS NULL OR j.end_time > (SELECT now FROM clock) - interval '1 hour'
           OR NOT EXISTS (SELECT FROM job_factors f WHERE f.job_id = j.job_id)
    ), known AS (
        SELECT DISTINCT ON (configuration) * FROM betas ORDER BY configuration, version DESC
    ), placements AS (
        -- Run time without contention, by how many groups the nodes span.
        SELECT l.configuration, l.groups, count(*) AS runs,
               percentile_cont(0.25) WITHIN GROUP (ORDER BY l.run_s - k.beta * l.slowdown_s) AS lo_s,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY l.run_s - k.beta * l.slowdown_s) AS median_s,
               percentile_cont(0.75) WITHIN GROUP (ORDER BY l.run_s - k.beta * l.slowdown_s) AS hi_s
        FROM learnable_runs l JOIN known k USING (configuration) GROUP BY 1, 2 HAVING count(*) >= 2
    ), best AS (
        SELECT configuration, min(median_s) AS best_s FROM placements GROUP BY 1 HAVING count(*) >= 2
    ), put AS (
        INSERT INTO job_factors AS f (job_id, configuration, self_s, self_lo_s, self_hi_s, other_s, other_lo_s, other_hi_s,
                                 placement, placement_lo, placement_hi, beta, beta_lo, beta_hi, beta_version, beta_runs, caveat)
        SELECT d.job_id, d.configuration,
               d.slowdown_s * d.own * b.beta, d.slowdown_lo_s * d.own * b.beta_lo,
               d.slowdown_hi_s * least(1, d.own) * b.beta_hi,
               d.slowdown_s * d.others * b.beta, d.slowdown_lo_s * d.others * b.beta_lo,
               -- What nobody is known for may be others'.
               d.slowdown_hi_s * greatest(0, 1 - d.own) * b.beta_hi,
               p.median_s / t.best_s, p.lo_s / t.best_s, p.hi_s / t.best_s,
               b.beta, b.beta_lo, b.beta_hi, b.version, b.runs,
               concat_ws('; ',
                   CASE WHEN b.version = 0 THEN 'no finished runs of this configuration to learn from' END,
                   CASE WHEN d.completeness < 0.6
                        THEN format('%s%% of the data is missing', round((100 * (1 - d.completeness))::numeric)) END,
                   CASE WHEN d.end_presumed THEN 'nobody told of its end' END,
                   CASE WHEN d.contended_s > 0.95 * d.run_s
                        THEN 'it never saw a quiet spell: what it would do without contention is assumed' END)
        FROM due d LEFT JOIN known k USING (configuration)
        CROSS JOIN LATERAL (
            SELECT coalesce(k.beta, 1) AS beta, coalesce(k.beta_lo, 1) AS beta_lo, coalesce(k.beta_hi, 1) AS beta_hi,
                   coalesce(k.version, 0) AS version, coalesce(k.runs, 0) AS runs
        ) b
        LEFT JOIN placements p ON (p.configuration, p.groups) = (d.configuration, d.groups)
        LEFT JOIN best t ON t.configuration = d.configuration
        ON CONFLICT (job_id) DO UPDATE SET
            configuration = excluded.configuration, self_s = excluded.self_s, self_lo_s = excluded.self_lo_s,
            self_hi_s = excluded.self_hi_s, other_s = excluded.other_s, other_lo_s = excluded.other_lo_s,
            other_hi_s = excluded.other_hi_s, placement = excluded.placement, placement_lo = excluded.placement_lo,
            placement_hi = excluded.placement_hi, beta = excluded.beta, beta_lo = excluded.beta_lo, beta_hi = excluded.beta_hi,
            beta_version = excluded.beta_version, beta_runs = excluded.beta_runs, caveat = excluded.caveat
        RETURNING 1
    )
    SELECT count(*) FROM put
$$;

GRANT SELECT ON betas TO tailback_writer, tailback_reader;
REVOKE ALL ON learnable_runs FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION learn_betas, tell_factors FROM PUBLIC;
GRANT EXECUTE ON FUNCTION learn_betas, tell_factors TO tailback_writer;
